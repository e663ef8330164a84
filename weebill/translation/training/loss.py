"""Cross-entropy over the tied output layer without all scores in memory at once.

Positions are processed in slices, whose scores, softmax and gradients stay in the cache.  The gradient is computed
in the forward pass, so no array of size positions × V is kept.
"""

from contextlib import nullcontext

import torch
from torch import Tensor

from weebill.kernels.cpu_matmul import OneDnnLinears, add_product, product
from weebill.translation.model.batch import Batch
from weebill.translation.model.network import Translator
from weebill.translation.training.guided_alignment import alignment_loss, guided_attention

SLICE = 512  # positions on a CPU: 512 × 8k pieces of float32 are 16 MB
DEVICE_SLICE = 8192  # positions on a GPU, with a dozen kernel launches each: 1 GB with 32k pieces


class _OutputCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, bias, target, factor, label_smoothing):
        needs_grad = any(ctx.needs_input_grad[:3])
        total = hidden.new_zeros((), dtype=torch.float32)
        if needs_grad:
            grad_hidden = torch.empty_like(hidden)
            grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        smooth = label_smoothing / weight.shape[0]
        size = SLICE if hidden.device.type == "cpu" else DEVICE_SLICE
        for begin in range(0, hidden.shape[0], size):
            part = slice(begin, begin + size)
            scores = product(hidden[part], weight.t(), bias).float()  # (n, V)
            labels, share = target[part, None], factor[part, None]
            chosen = scores.gather(1, labels)
            mean = scores.mean(1, keepdim=True) if label_smoothing else chosen
            scores -= scores.amax(1, keepdim=True)
            shifted = scores.gather(1, labels) - chosen  # −max
            scores.exp_()
            norm = scores.sum(1, keepdim=True)
            losses = norm.log() - shifted - (1 - label_smoothing) * chosen - label_smoothing * mean
            total += (losses * share).sum()
            if needs_grad:
                scores *= share / norm
                if label_smoothing:
                    scores -= smooth * share
                scores.scatter_add_(1, labels, -(1 - label_smoothing) * share)
                grad = scores.to(hidden.dtype)
                grad_hidden[part] = product(grad, weight)
                add_product(grad_weight, grad.t(), hidden[part])
                grad_bias += grad.sum(0)
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        return total

    @staticmethod
    def backward(ctx, grad):
        return *(saved * grad for saved in ctx.saved_tensors), None, None, None


def output_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor,
    target: Tensor,
    factor: Tensor,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute Σ factor · cross-entropy of softmax(hidden·weightᵀ + bias) and `target`, a scalar.

    hidden (n, d), weight (V, d), bias (V,), target (n,) piece ids, factor (n,) weight of each position.
    Label smoothing ε gives 1 − ε to the target and ε / V to every piece.
    """
    if torch.is_autocast_enabled(hidden.device.type):
        dtype = torch.get_autocast_dtype(hidden.device.type)
        hidden, weight, bias = hidden.to(dtype), weight.to(dtype), bias.to(dtype)
    return _OutputCrossEntropy.apply(hidden, weight, bias, target, factor, label_smoothing)


def batch_loss(
    network: Translator,
    batch: Batch,
    words: int,
    label_smoothing: float = 0.0,
    guided_alignment: float = 0.0,
) -> Tensor:
    """Compute the weighted cross-entropy, summed over the batch's target words and divided by `words`: a scalar.

    guided_alignment: weight with which `alignment_loss` is added.
    """
    guided = guided_attention(network) if guided_alignment else nullcontext()
    with OneDnnLinears(), guided as attention:
        memory = network.encode(batch.source, batch.source_mask)
        hidden = network.decode(batch.decoder_input, memory, batch.source_mask)
    places = batch.places
    factor = batch.weight[places // batch.target.shape[1]] / words
    operands = network.output_operands(hidden.flatten(0, 1).index_select(0, places))
    target = batch.target.flatten()[places]
    loss = output_cross_entropy(*operands, target, factor, label_smoothing)
    if guided_alignment:
        loss = loss + guided_alignment * alignment_loss(attention[0], batch, words)
    return loss
