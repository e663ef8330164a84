"""Layers and neurons removed so that all layers keep one shape."""

import pytest
import torch

from tests.pruning.toy import LAYERS, NEURONS, ToyStudy, small_translator, toy_batch
from weebill.pruning.criteria import CRITERIA, Candidates
from weebill.pruning.cut import cut
from weebill.pruning.even import Even
from weebill.pruning.method import ModelShape


def test_top_layers_and_the_lowest_neurons_of_each_other_layer_go(tmp_path):
    method = Even(encoder_layers=1, neurons=0.45, multiple=3, reset_to=4)
    pruned = method.prune(ToyStudy(), tmp_path / "work")
    study = ToyStudy()
    model = study.checkpoint(4)
    del model.layers[LAYERS - 1 :]
    scores = CRITERIA["gradient"](study, model, Candidates.named(model, "*", 0, 1)).neurons
    lowest = {name: sorted(range(NEURONS), key=v.__getitem__)[:4] for name, v in scores.items()}
    cut(model, neurons=lowest)
    study.train(model, start_update=4, updates=None, work=tmp_path / "by hand")
    with torch.no_grad():
        assert torch.equal(pruned.model(*toy_batch(7)), model(*toy_batch(7)))
    assert [block.neurons for block in pruned.model.feed_forward_blocks()] == [6, 6]
    assert [len(left) for left in pruned.history["survivors"]["neurons"].values()] == [6, 6]


def test_a_translator_keeps_one_shape():
    network = small_translator("attention")
    Even(1, 1, 0.3, 8, criterion="magnitude").cut(None, network)
    assert network.architecture.encoder[0].feed_forward == 24  # 16.8 neurons need three eights
    Even(0, 0, 0.4, 8, criterion="magnitude").cut(None, network)
    shape = network.architecture
    assert [one.feed_forward for one in (*shape.encoder, *shape.decoder)] == [16, 16]


@pytest.mark.parametrize("share, kept", [(0.5, 768), (0.49, 832), (0.01, 1536), (0.95, 128)])
def test_what_is_kept_is_a_multiple(share, kept):
    assert Even(neurons=share).kept(1536) == kept


def test_faults_are_named():
    shape = ModelShape({}, {"encoder.0.feed_forward": 96}, {"encoder": 2, "decoder": 1})
    method = Even(encoder_layers=2, decoder_layers=1, neurons=0.1)
    assert [fault for _, fault in method.faults({"small": shape})] == [
        "found 2, expected less than 2, the encoder's of 'small'",
        "found 1, expected less than 1, the decoder's of 'small'",
        "found 0.1, expected a share that takes 64 of the 96 of 'small'",
    ]
