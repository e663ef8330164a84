"""A head guided by alignments stays for every method that removes heads or layers, even with the lowest score."""

import pytest
import torch

from tests.pruning.owned import of_head
from tests.pruning.toy import HEADS, LAYERS, ToyStudy, small_translator
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers
from weebill.pruning.methods import pruning_method

GUIDED = f"encoder.{LAYERS - 1}.attention"
METHODS = [
    {"method": "one-shot", "heads": 0.5, "criterion": "magnitude", "ranking": "layer"},
    {"method": "late-reset", "heads_per_iteration": 4, "iterations": 2, "criterion": "gradient"}
    | {"iteration_updates": 1},
    {"method": "group-lasso", "strength": 1e-3, "regularise_updates": 2},
    {"method": "movement", "heads": 0.75, "prune_updates": 6, "ranking": "layer"},
]


class GuidedStudy(ToyStudy):
    """The toy's study; its last block has a protected first head of zeros."""

    def checkpoint(self, updates):
        model = super().checkpoint(updates)
        blocks = model.attention_blocks

        def protecting():
            found = blocks()
            found[-1].protected = frozenset({0})
            return found

        model.attention_blocks = protecting
        with torch.no_grad():
            for values in of_head(blocks()[-1], 0).values():
                values.mul_(1e-9)
        return model


@pytest.mark.parametrize("recipe", METHODS, ids=lambda recipe: recipe["method"])
def test_no_method_removes_it(tmp_path, recipe):
    method = pruning_method({**recipe, "reset_to": 3, "blocks": "*"})
    found = method.prune(GuidedStudy(), tmp_path / "work").history["survivors"]["heads"]
    assert 0 in found[GUIDED]
    if method.heads if hasattr(method, "heads") else recipe["method"] == "late-reset":
        assert sum(map(len, found.values())) < LAYERS * HEADS


def test_a_guided_student_keeps_its_head_and_its_last_layer():
    network = small_translator("attention")
    assert not any(block.protected for block in network.attention_blocks())
    network.guided = True
    *others, guided = network.attention_blocks()
    assert guided.name == "decoder.1.cross_attention" and guided.protected == {0}
    assert not any(block.protected for block in others)
    with pytest.raises(ValueError, match=r"decoder\.1\.cross_attention: alignments guide head 0"):
        cut(network, heads={guided.name: [0, 2]})
    last = network.decoder[1]
    cut_layers(network, "decoder", 1)
    assert list(network.decoder) == [last] and network.decoder_depth == 1
    assert network.attention_blocks()[-1].protected == {0}
