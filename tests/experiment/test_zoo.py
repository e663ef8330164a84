"""The zoo describes the networks that are built from it."""

import pytest

from weebill.experiment.zoo import attention_blocks, feed_forward_blocks
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture


@pytest.mark.parametrize("kind", ["ssru", "attention"])
@pytest.mark.parametrize("tied", [True, False])
def test_the_zoo_knows_the_blocks_of_the_network(zoo, kind, tied):
    entry = {**zoo["small"], "decoder": kind, "decoder_tied": tied}
    network = Translator(Architecture.from_zoo(entry, 20))
    assert attention_blocks(entry) == {b.name: b.heads for b in network.attention_blocks()}
    assert feed_forward_blocks(entry) == {b.name: b.neurons for b in network.feed_forward_blocks()}
