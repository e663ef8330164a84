"""Heads, neurons and layers removed at once, and the same shape trained from new initial weights."""

import pytest
import torch

from tests.pruning.toy import HEADS, LAYERS, NEURONS, ToyStudy, outputs, toy
from weebill.errors import InputError
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import cut
from weebill.pruning.depth import Depth
from weebill.pruning.from_scratch import FromScratch
from weebill.pruning.one_shot import OneShot


@pytest.mark.parametrize("criterion", ["gradient", "magnitude", "random"])
def test_the_lowest_of_each_layer_go_and_the_rest_is_trained(criterion, tmp_path):
    settings = {"heads": 0.5, "neurons": 0.3, "ranking": "layer", "reset_to": 4}
    pruned = OneShot(criterion, **settings).prune(ToyStudy(), tmp_path / "work")

    study = ToyStudy()
    model = study.checkpoint(4)
    candidates = Candidates.named(model, "encoder.*", heads=True, neurons=True)
    scores = CRITERIA[criterion](study, model, candidates)
    heads = {
        name: sorted(sorted(range(HEADS), key=values.__getitem__)[: HEADS // 2])
        for name, values in scores.heads.items()
    }
    neurons = {
        name: sorted(sorted(range(NEURONS), key=values.__getitem__)[: NEURONS * 3 // 10])
        for name, values in scores.neurons.items()
    }
    cut(model, heads, neurons)
    study.train(model, start_update=4, updates=None, work=tmp_path / "by hand")
    assert torch.equal(outputs(pruned.model), outputs(model))
    [step] = pruned.history["steps"]
    assert step["removed"] == {"heads": heads, "neurons": neurons}
    for name, gone in heads.items():
        left = pruned.history["survivors"]["heads"][name]
        assert sorted([*left, *gone]) == list(range(HEADS))


def test_globally_blocks_lose_as_they_deserve(tmp_path):
    pruned = OneShot("magnitude", neurons=0.5, reset_to=1).prune(ToyStudy(), tmp_path)
    left = [block.neurons for block in pruned.model.feed_forward_blocks()]
    assert sum(left) == LAYERS * NEURONS // 2
    assert [block.heads for block in pruned.model.attention_blocks()] == [HEADS] * LAYERS


def test_a_recipe_that_removes_nothing_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"heads 0.01 and neurons 0.0 .* are none"):
        OneShot("random", heads=0.01, reset_to=1).prune(ToyStudy(), tmp_path)


def test_top_layers_go_and_the_rest_is_trained(tmp_path):
    pruned = Depth(layers=2, reset_to=3).prune(ToyStudy(), tmp_path / "work")
    study = ToyStudy()
    model = study.checkpoint(3)
    model.layers = model.layers[:1]
    study.train(model, start_update=3, updates=None, work=tmp_path / "by hand")
    assert torch.equal(outputs(pruned.model), outputs(model))
    with pytest.raises(InputError, match="3 layers of the 3 of 'encoder' leave none"):
        Depth(layers=3, reset_to=3).prune(ToyStudy(), tmp_path / "all")
    with pytest.raises(InputError, match="no layers 'top', but encoder"):
        Depth(stack="top", reset_to=3).prune(ToyStudy(), tmp_path / "none")


def test_from_scratch_trains_first_weights_of_the_same_shape(tmp_path):
    pruned = FromScratch("lasso").prune(ToyStudy(), tmp_path / "work")
    model = toy(seed=2)
    cut(model, neurons={"encoder.0.neurons": [NEURONS - 1]})
    ToyStudy().train(model, start_update=0, updates=None, work=tmp_path / "by hand")
    assert torch.equal(outputs(pruned.model), outputs(model))
