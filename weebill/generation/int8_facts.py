"""Int8 models for the library's own methods: their weights, which are not parameters, and their buffers."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.kernels.int8_layers import CodedWeight, Int8Embedding, Int8Linear

FLOAT32_ON_CPU = f"{torch.float32} on cpu"
# Methods that need float32 weights.
NEEDING_WEIGHTS = ("resize_token_embeddings", "resize_decoder_token_embeddings", "resize_position_embeddings",
                   "init_weights", "initialize_weights", "dequantize")  # fmt: skip


def int8_weights(model: nn.Module, embeddings: bool = True) -> Iterator[CodedWeight]:
    """Yield each coded weight of a model once; embeddings: False to leave out the weights of embeddings."""
    kinds = (Int8Linear, Int8Embedding) if embeddings else (Int8Linear,)
    yield from {m.coded: None for m in model.modules() if isinstance(m, kinds)}


def adapt_methods(model: PreTrainedModel) -> None:
    """Adapt the library's methods of a model and its parts to int8 weights, in place.

    The methods count them, and refuse to change or write them as if they were float32.  Tied weights stay tied.
    """
    for part in model.modules():
        if isinstance(part, PreTrainedModel):
            kind = type(part)
            part.num_parameters = partial(_num_parameters, kind, part)
            part.get_memory_footprint = partial(_memory, kind, part)
            part.save_pretrained = partial(_refuse_to_save, model)
            part.push_to_hub = partial(_refuse_to_save, model)
            part._apply = partial(_apply, kind, part)
            part.tie_weights = _leave_tied
            for name in NEEDING_WEIGHTS:
                if hasattr(part, name):
                    setattr(part, name, partial(_refuse_to_change, name))


def compute_buffers(model: PreTrainedModel) -> None:
    """Compute the buffers of a model on `meta` that no file holds: frequencies or tables of positions."""
    for module in model.modules():
        lacking = [name for name, value in module.named_buffers(recurse=False) if value.is_meta]
        for name in lacking:
            setattr(module, name, torch.empty_like(getattr(module, name), device="cpu"))
        if lacking:
            model._init_weights(module)  # the library's own formulas


def _num_parameters(
    kind: type[PreTrainedModel],
    model: PreTrainedModel,
    only_trainable: bool = False,
    exclude_embeddings: bool = False,
) -> int:
    """Count parameters as the library does, and int8 weights, which are not trainable."""
    found = kind.num_parameters(model, only_trainable, exclude_embeddings)
    if only_trainable:
        return found
    weights = int8_weights(model, embeddings=not exclude_embeddings)
    return found + sum(weight.shape.numel() for weight in weights)


def _memory(
    kind: type[PreTrainedModel], model: PreTrainedModel, return_buffers: bool = True
) -> int:
    """Return the bytes of all weights, including codes and their scales or steps."""
    weights = sum(weight.bytes for weight in int8_weights(model))
    return kind.get_memory_footprint(model, return_buffers) + weights


def _refuse_to_save(
    model: PreTrainedModel, save_directory: object, *_: object, **__: object
) -> None:
    raise InputError(
        f"{save_directory}: not written, the model is int8; copy its folder {model.name_or_path}"
    )


def _refuse_to_change(name: str, *_: object, **__: object) -> None:
    raise InputError(
        f"{name}: the weights are int8; change the float32 model, and save it by `save_int8`"
    )


def _leave_tied(*_: object, **__: object) -> None:
    """Do nothing: layers with tied weights share one object."""


def _apply(
    kind: type[PreTrainedModel],
    model: PreTrainedModel,
    change: Callable[[Tensor], Tensor],
    recurse: bool = True,
) -> PreTrainedModel:
    """Apply a change to all tensors, as `to`, `half` and `float` do, if they stay float32 on the CPU."""
    changed = "another device"
    with suppress(Exception):  # for a missing device, PyTorch raises errors of several kinds
        probe = change(torch.zeros(1))
        changed = f"{probe.dtype} on {probe.device}"
    if changed == FLOAT32_ON_CPU:
        return kind._apply(model, change, recurse)
    raise InputError(
        f"{type(model).__name__}: its weights are int8, which compute in float32 on the CPU, not in {changed}; "
        "leave it there, or change the float32 model"
    )
