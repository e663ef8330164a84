"""Batches of sentences of similar length, with little padding."""

from collections.abc import Sequence


def length_sorted_batches(
    lengths: Sequence[int], batch_size: int, batch_tokens: int
) -> list[list[int]]:
    """Return indices of non-empty sentences in batches, longest first, equal lengths in input order.

    A batch holds at most `batch_size` sentences and `batch_tokens` pieces with padding, but at least one sentence.
    The longest come first, so that a batch that is too large fails at once.
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not lengths[index]:
            continue
        batch = batches[-1] if batches else None
        if (
            batch
            and len(batch) < batch_size
            and lengths[batch[0]] * (len(batch) + 1) <= batch_tokens
        ):
            batch.append(index)
        else:
            batches.append([index])
    return batches
