"""Loss: cross-entropy over the tied output layer without all scores in memory at once, and guided alignment.

Positions are processed in slices, whose scores, softmax and gradients stay in a CPU's cache, or fill a small part of
a GPU's memory.  The gradient is computed in the forward pass, so no array of size positions × V is kept.
Guided alignment (Garg et al. 2019) teaches a decoder head the source pieces of each target piece.  Its loss is the
cross-entropy between an alignment, in which the links of a target piece sum to 1, and the attention of one head: the
first of the last layer, as in Marian, whose default weight of this loss is 0.1.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor

from weebill.errors import InputError
from weebill.kernels.cpu_matmul import add_product, product, training_linears
from weebill.translation.model.batch import Batch
from weebill.translation.model.layers import HAS_TRITON
from weebill.translation.model.network import Translator

SLICE = 512  # positions on a CPU: 512 × 8k pieces of float32 are 16 MB
EPSILON = 1e-6  # Marian's value, for attention that underflows


class _OutputCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, bias, target, factor, smoothing, fused):
        needs_grad = any(ctx.needs_input_grad[:3])
        total = hidden.new_zeros((), dtype=torch.float32)
        if needs_grad:
            grad_hidden = torch.empty_like(hidden)
            grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        row_losses = _row_losses
        if fused:
            from weebill.kernels.cross_entropy import row_losses
        size = slice_rows(weight)
        for begin in range(0, hidden.shape[0], size):
            part = slice(begin, begin + size)
            scores = product(hidden[part], weight.t(), bias)  # (n, V)
            losses, grad = row_losses(scores, target[part], factor[part], smoothing, needs_grad)
            total += losses.sum()
            if needs_grad:
                grad_hidden[part] = product(grad, weight)
                add_product(grad_weight, grad.t(), hidden[part])
                grad_bias += grad.sum(0)
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total

    @staticmethod
    def backward(ctx, grad):
        return *(saved * grad for saved in ctx.saved_tensors), None, None, None, None


def slice_rows(weight: Tensor) -> int:
    """Return the number of positions of a slice, for an output layer's weight (V, d).

    On a GPU, the scores of a slice take at most a 32nd of the memory: 2.5 GB of 80 GB.
    """
    if weight.device.type != "cuda":
        return SLICE
    memory = torch.cuda.get_device_properties(weight.device).total_memory
    return max(SLICE, memory // 32 // (weight.shape[0] * weight.element_size()))


def _row_losses(
    scores: Tensor, labels: Tensor, share: Tensor, smoothing: float, needs_grad: bool
) -> tuple[Tensor, Tensor | None]:
    """Return share · cross-entropy of each row (n, 1) and, if needed, its gradient (n, V), in the type of scores."""
    dtype, scores = scores.dtype, scores.float()
    labels, share = labels[:, None], share[:, None]
    chosen = scores.gather(1, labels)
    mean = scores.mean(1, keepdim=True) if smoothing else chosen
    scores -= scores.amax(1, keepdim=True)
    shifted = scores.gather(1, labels) - chosen  # −max
    scores.exp_()
    norm = scores.sum(1, keepdim=True)
    losses = norm.log() - shifted - (1 - smoothing) * chosen - smoothing * mean
    losses *= share
    if not needs_grad:
        return losses, None
    scores *= share / norm
    if smoothing:
        scores -= smoothing / scores.shape[1] * share
    scores.scatter_add_(1, labels, -(1 - smoothing) * share)
    return losses, scores.to(dtype)


def output_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor, target: Tensor, factor: Tensor, smoothing: float
) -> Tensor:
    """Compute Σ factor · cross-entropy of softmax(hidden·weightᵀ + bias) and `target`, a scalar.

    hidden (n, d), weight (V, d), bias (V,), target (n,) piece ids, factor (n,) weight of each position.
    Label smoothing ε gives 1 − ε to the target and ε / V to every piece.  A GPU computes this by a Triton kernel, a
    CPU by operations of PyTorch.
    """
    if torch.is_autocast_enabled(hidden.device.type):
        dtype = torch.get_autocast_dtype(hidden.device.type)
        hidden, weight, bias = hidden.to(dtype), weight.to(dtype), bias.to(dtype)
    fused = hidden.is_cuda and HAS_TRITON
    return _OutputCrossEntropy.apply(hidden, weight, bias, target, factor, smoothing, fused)


def batch_loss(
    network: Translator,
    batch: Batch,
    words: int,
    label_smoothing: float = 0.0,
    guided_alignment: float = 0.0,
) -> Tensor:
    """Sum the batch's weighted cross-entropy and `guided_alignment` · `alignment_loss`, both divided by `words`."""
    guided = guided_attention(network) if guided_alignment else nullcontext()
    with training_linears(), guided as attention:
        memory = network.encode(batch.source, batch.source_mask)
        hidden = network.decode(batch.decoder_input, memory, batch.source_mask)
    places = batch.places
    real = batch.target_mask.flatten()[places]
    factor = batch.weight[places // batch.target.shape[1]] * real / words
    operands = network.output_operands(hidden.flatten(0, 1).index_select(0, places))
    loss = output_cross_entropy(*operands, batch.target.flatten()[places], factor, label_smoothing)
    if guided_alignment:
        loss = loss + guided_alignment * alignment_loss(attention[0], batch, words)
    return loss


@contextmanager
def guided_attention(network: Translator) -> Iterator[list[Tensor]]:
    """Yield a list that decoding fills with the guided head's attention (b, t, s).  InputError if none is left."""
    attention = network.decoder_layers()[-1].cross_attention
    if not attention.heads:
        message = "training.guided_alignment: the last cross-attention has no head left to guide; set it to 0"
        raise InputError(message)
    before, seen = attention.record, []

    def record(weights: Tensor, queries: Tensor | None) -> None:
        seen[:] = [weights[:, 0]]  # of a tied layer, the last application counts
        if before is not None:
            before(weights, queries)

    attention.record = record
    try:
        yield seen
    finally:
        attention.record = before


def alignment_loss(attention: Tensor, batch: Batch, words: int) -> Tensor:
    """Compute the weighted cross-entropy of attention (b, t, s) and the batch's links, divided by `words`."""
    pair, target, source = batch.links.unbind(1)
    found = attention[pair, target, source].float() + EPSILON
    return -(batch.weight[pair] * batch.link_shares * found.log()).sum() / words
