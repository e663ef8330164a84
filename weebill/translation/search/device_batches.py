"""Batches for a GPU: as many sentences as make it work at full speed, bounded by its memory."""

from collections.abc import Sequence

import torch

from weebill.translation.search.shapes import most_rows, round_length
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions

# Rows times slots.  With `tiny` on an H100, a step takes 260 µs for 512 rows and 576 µs for 2,048.
MOST_HYPOTHESES = 4096
MOST_SENTENCES = 2048
MOST_PIECES = 81_920  # source pieces with padding; bounds the encoder's memory
# Share of the card's memory for a batch, as estimated below; the rest is for the weights and the user.
MEMORY_SHARE = 0.125


def device_batches(
    lengths: Sequence[int],
    options: SearchOptions,
    architectures: Sequence[Architecture],
    value_bytes: int,
    memory: float,
) -> list[list[int]]:
    """Return indices of non-empty sentences in batches, longest first, equal lengths in input order.

    lengths: pieces without the end.  value_bytes: size of a number in the networks.  memory: bytes for a batch.
    """
    batches: list[list[int]] = []
    slots, room = options.beam if options.sampling is None else options.nbest, 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not lengths[index]:
            break
        if not room:
            batches.append([])
            length, limit = round_length(lengths[index] + 1), options.limit(lengths[index])
            each = sum(_bytes(one, length, limit, slots, value_bytes) for one in architectures)
            most = (MOST_SENTENCES, MOST_HYPOTHESES // slots, MOST_PIECES // length, memory // each)
            room = most_rows(max(1, int(min(most))))
        batches[-1].append(index)
        room -= 1
    return batches


def card_memory(device: torch.device) -> float:
    """Return the bytes of a GPU that a batch may take."""
    return MEMORY_SHARE * torch.cuda.get_device_properties(device).total_memory


def _bytes(shape: Architecture, length: int, limit: int, slots: int, value_bytes: int) -> int:
    """Estimate a sentence's memory: that of its encoder and steps, and twice its states, because they are copied."""
    widest = max((layer.feed_forward for layer in shape.encoder), default=0)
    encoder = length * (widest + 6 * shape.embedding)
    memory = sum(2 * layer.heads * layer.head_size * length for layer in shape.decoder)
    repeats = shape.decoder_depth // len(shape.decoder)
    past = sum(2 * layer.self_heads * layer.head_size for layer in shape.decoder) * repeats
    values = encoder + 2 * (memory + past * slots * limit)
    # float32 logits, log probabilities, maxima
    logits = slots * shape.vocabulary * (value_bytes + 12)
    return values * value_bytes + logits
