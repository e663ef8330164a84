"""A metric without its top layers: scores are those of the states that are left."""

import numpy as np
import pytest
import torch

from goldcrest.errors import InputError
from goldcrest.metric.cache import VectorCache
from goldcrest.metric.folder import load_metric, save_metric
from goldcrest.metric.pruning import remove_top_layers
from goldcrest.metric.scorer import Scorer
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder


@pytest.mark.parametrize("transformation", ["softmax", "sparsemax"])
def test_the_mix_is_of_what_is_left(tmp_path, transformation):
    encoder = make_encoder(tmp_path / "encoder")
    path = make_checkpoint(tmp_path / "metric", encoder, layer_transformation=transformation)
    whole, metric = load_metric(path), load_metric(path)
    with pytest.raises(InputError, match="leave none"):
        remove_top_layers(metric.network, 3)
    remove_top_layers(metric.network, 2)
    save_metric(tmp_path / "cut", metric, {})
    found = Scorer(load_metric(tmp_path / "cut")).score(SYSTEMS, SOURCES, REFERENCES)
    with torch.no_grad():
        whole.network.mix.weights[2:] = -1e9  # as good as gone
    wanted = Scorer(whole).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6)


def test_a_cut_metric_has_vectors_of_its_own(tmp_path):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    cache = VectorCache()
    before = Scorer(metric, cache=cache).vectors(SOURCES)
    remove_top_layers(metric.network, 1)
    cut = Scorer(metric, cache=cache).vectors(SOURCES)
    assert not torch.allclose(cut, before)
    torch.testing.assert_close(cut, Scorer(metric).vectors(SOURCES), rtol=0, atol=0)


def test_layers_that_are_needed(tmp_path):
    metric = load_metric(
        make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"), layer=2)
    )
    before = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    with pytest.raises(InputError, match="reads layer 2; 1 would be left"):
        remove_top_layers(metric.network, 2)
    remove_top_layers(metric.network, 1)
    cut = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_array_equal(cut[name], before[name])
