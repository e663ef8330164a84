"""Guided alignment: a decoder head learns the source pieces of each target piece (Garg et al. 2019).

The loss is the cross-entropy between an alignment, in which the links of a target piece sum to 1, and the attention
of one head: the first of the last layer, as in Marian, whose default weight of the loss is 0.1.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from weebill.errors import InputError
from weebill.translation.model.batch import Batch
from weebill.translation.model.network import Translator

EPSILON = 1e-6  # Marian's value, for attention that underflows


@contextmanager
def guided_attention(network: Translator) -> Iterator[list[Tensor]]:
    """Yield a list that a decoder pass within the context fills with the guided head's attention (b, t, s).

    For a tied layer, its last application counts.  Raises InputError if the head was removed.
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
    """Compute the weighted cross-entropy of attention (b, t, s) and the batch's links, divided by `words`: a scalar.

    A target piece without links does not contribute.
    """
    pair, target, source = batch.links.unbind(1)
    found = attention[pair, target, source].float() + EPSILON
    return -(batch.weight[pair] * batch.link_shares * found.log()).sum() / words
