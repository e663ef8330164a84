"""Int8 models as the library's own methods see them: their weights, which are no parameters, and their buffers."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import nn
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.kernels.int8_layers import Int8Embedding, Int8Linear, Int8Weight


def int8_weights(model: nn.Module, embeddings: bool = True) -> Iterator[Int8Weight]:
    """Yield each int8 weight of a model once; embeddings: False to leave out those of lookups."""
    kinds = (Int8Linear, Int8Embedding) if embeddings else (Int8Linear,)
    yield from {m.int8: None for m in model.modules() if isinstance(m, kinds)}


def count_int8(model: PreTrainedModel) -> None:
    """Let the model's own methods count int8 weights, and refuse to write them as if they were float32, in place."""
    kind = type(model)
    model.num_parameters = partial(_num_parameters, kind, model)
    model.get_memory_footprint = partial(_memory, kind, model)
    model.save_pretrained = partial(_refuse_to_save, model)


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
    """Return the bytes of all weights: a byte for each int8 number, and four for each row's scale."""
    weights = sum(weight.shape.numel() + 4 * weight.shape[0] for weight in int8_weights(model))
    return kind.get_memory_footprint(model, return_buffers) + weights


def _refuse_to_save(
    model: PreTrainedModel, save_directory: object, *_: object, **__: object
) -> None:
    raise InputError(
        f"{save_directory}: not written, the model is int8; copy its folder {model.name_or_path}"
    )
