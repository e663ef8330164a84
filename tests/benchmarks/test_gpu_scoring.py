"""The benchmark of scoring on a GPU, here on the CPU with a tiny shape."""

import numpy as np
import pytest
import torch
from transformers import XLMRobertaConfig, XLMRobertaModel

from weebill.benchmarks.gpu_scoring import library_states, measure, random_pieces
from weebill.benchmarks.metric.checkpoint import SHAPES, SHARED


@pytest.fixture
def shape(monkeypatch):
    """Return a tiny shape, with fewer pieces than XLM-R."""
    monkeypatch.setattr("weebill.benchmarks.gpu_scoring.PIECES", 500)
    return SHAPES["tiny"]


def test_both_encoders_are_timed(shape):
    found = measure("cpu", 2, shape, 40)
    assert found["segments"] == 40 and found["precision"] == "float32"
    assert found["pieces"] == sum(map(len, random_pieces(40)))
    assert found["lowest"] <= found["ratio"] <= found["highest"]
    assert found["ratio"] == pytest.approx(found["ours"] / found["transformers"], rel=0.5)
    assert found["largest_difference"] < 1e-6 < found["deviation"]


def test_the_library_reads_sentence_by_sentence_what_it_reads_in_batches(shape):
    torch.manual_seed(1)
    config = XLMRobertaConfig(vocab_size=500, **SHARED, **shape)
    encoder = XLMRobertaModel(config, add_pooling_layer=False).eval()
    texts = random_pieces(9)
    with torch.no_grad():
        alone = [encoder(torch.tensor([one])).last_hidden_state[0, 0] for one in texts]
    found = library_states(encoder, texts, 150)
    np.testing.assert_allclose(found, torch.stack(alone).numpy(), atol=1e-5)


@pytest.mark.gpu
def test_scoring_is_faster_than_the_library():
    found = measure("cuda", 3)
    print(found)
    assert found["precision"] == "bfloat16" and found["largest_difference"] < found["deviation"]
    assert found["ratio"] > 1.2
