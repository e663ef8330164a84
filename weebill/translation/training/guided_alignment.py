"""Guided alignment: a head of the decoder learns from which source pieces each target piece comes (Garg et al. 2019).

The loss is the cross-entropy between an alignment, whose links of a target piece share one, and the attention of one
head, for which Marian takes the first of the last layer's; 0.1 is the weight that Marian gives it by default.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from weebill.errors import InputError
from weebill.translation.model.batch import Batch
from weebill.translation.model.network import Translator

EPSILON = 1e-6  # Marian's, for attention that underflows


@contextmanager
def guided_attention(network: Translator) -> Iterator[list[Tensor]]:
    """A list which a decoder pass inside fills with the guided head's attention (b, t, s).

    A tied layer is applied several times, of which the last counts.  Raises InputError where the head is gone.
    """
    attention = network.decoder_layers()[-1].cross_attention
    if not attention.heads:
        raise InputError(
            "training.guided_alignment: the last cross-attention has no head left to guide; set it to 0"
        )
    before, seen = attention.record, []

    def record(weights: Tensor, queries: Tensor | None) -> None:
        seen[:] = [weights[:, 0]]
        if before is not None:
            before(weights, queries)

    attention.record = record
    try:
        yield seen
    finally:
        attention.record = before


def alignment_loss(attention: Tensor, batch: Batch, words: int) -> Tensor:
    """Weighted cross-entropy of attention (b, t, s) against the batch's links, divided by `words`; a scalar.

    A target piece without links has no part in it.
    """
    pair, target, source = batch.links.unbind(1)
    found = attention[pair, target, source].float() + EPSILON
    return -(batch.weight[pair] * batch.link_shares * found.log()).sum() / words
