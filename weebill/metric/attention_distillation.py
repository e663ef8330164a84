"""Loss with which a small encoder learns the self-attention of a larger one (MiniLM, Wang et al. 2020, §3).

Only the last layers are compared: how each head spreads its attention, and how the values of the pieces relate to
each other in each head.  So the student may have any number of layers, and any widths and feed-forward networks.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModel, PreTrainedModel

from weebill.errors import InputError, first_line
from weebill.hugging_face.loading import pretrained_model
from weebill.metric.settings import AttentionDistillationSettings

PARTS = "query", "key", "value"


def load_teacher(folder: str | Path, settings: AttentionDistillationSettings) -> PreTrainedModel:
    """Load the teacher.

    Raises InputError if it is no encoder, if its heads are not as many as the student's, or its positions fewer.
    """
    try:
        teacher, _ = pretrained_model(AutoModel, folder, add_pooling_layer=False)
        teacher.get_submodule("encoder.layer.0.attention.self.value")
    except (OSError, ValueError, RuntimeError, AttributeError) as error:
        raise InputError(
            f"{folder}: no encoder like XLM-R or BERT ({first_line(error)}); name one"
        ) from error
    heads, positions = teacher.config.num_attention_heads, teacher.config.max_position_embeddings
    if heads != settings.heads:
        raise InputError(
            f"{folder}: it has {heads} heads, its student {settings.heads}; write `heads: {heads}`"
        )
    if positions < settings.positions:
        raise InputError(
            f"{folder}: it has {positions} positions, its student {settings.positions}; "
            f"write `positions: {positions}`"
        )
    # Its last states are not used, so its last layer ends with the attention.
    teacher.encoder.layer[-1].feed_forward_chunk = lambda states: states
    return teacher.eval().requires_grad_(False)


def attention_mask(whole: Tensor) -> Tensor:
    """Return the mask of real pieces (b, n) in the form that the library takes on this device."""
    # On a GPU, the library would wait for the device to learn whether a mask (b, n) hides anything.
    return whole if whole.device.type == "cpu" else whole[:, None, None]


def attention_loss(
    student: PreTrainedModel, teacher: PreTrainedModel, pieces: Tensor, whole: Tensor
) -> Tensor:
    """Return the divergence of the heads' attention plus that of their value relations, for pieces (b, n).

    Both are KL(teacher ‖ student), means over heads and pieces.  whole: True for real pieces, False for padding.
    """
    with torch.no_grad():
        theirs = _relations(teacher, pieces, whole)
    ours = _relations(student, pieces, whole)
    return sum(_divergence(*pair, whole) for pair in zip(theirs, ours, strict=True))


def _relations(encoder: PreTrainedModel, pieces: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]:
    """Return log-probabilities (b, heads, n, n) of attention and of value relations in the last layer."""
    with _watched(encoder) as found:
        encoder(pieces, attention_mask=attention_mask(whole))
    heads = encoder.config.num_attention_heads
    query, key, value = (found[part].unflatten(-1, (heads, -1)).transpose(1, 2) for part in PARTS)
    return _log_softmax(query, key, whole), _log_softmax(value, value, whole)


@contextmanager
def _watched(encoder: PreTrainedModel) -> Iterator[Mapping[str, Tensor]]:
    """Record the outputs of the three maps of the last layer's self-attention, (b, n, width) each, by name."""
    found: dict[str, Tensor] = {}
    attention = encoder.encoder.layer[-1].attention.self
    with ExitStack() as hooks:
        for part in PARTS:
            hook = getattr(attention, part).register_forward_hook(
                lambda module, given, output, part=part: found.update({part: output})
            )
            hooks.enter_context(hook)
        yield found


def _log_softmax(one: Tensor, other: Tensor, whole: Tensor) -> Tensor:
    """Return log softmax(one · other^T / √size) over the pieces; one and other (b, heads, n, size)."""
    scores = one @ other.transpose(-1, -2) / one.shape[-1] ** 0.5
    return scores.masked_fill(~whole[:, None, None], torch.finfo(scores.dtype).min).log_softmax(-1)


def _divergence(theirs: Tensor, ours: Tensor, whole: Tensor) -> Tensor:
    """Return the mean of KL(theirs ‖ ours) over heads and pieces without padding; both (b, heads, n, n)."""
    each = (theirs.exp() * (theirs - ours)).sum(-1).mean(1)  # (b, n)
    return (each * whole).sum() / whole.sum()
