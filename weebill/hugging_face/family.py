"""Base class of families: a model, its part with the prunable blocks, and attention weights on request.

The library computes attention by kernels that return no weights.  While there is a recorder, the model uses the
library's explicit ("eager") attention, whose sums differ from the kernels' in the last bits.

The library's modules do not run without heads, or count positions then.  Such a module gets another class of the
family; it keeps its parameters, its name and its hooks.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, EncoderDecoderCache

from weebill.pruning.structure import LayerStack, Prunable, Recorder


class Family(Prunable):
    """Base of every family's `Prunable`.

    model: the given model.  core: the base model in it, whose blocks may be cut.
    weights_at: index of the attention weights in the output of the family's attention modules.
    """

    weights_at: ClassVar[int] = 1

    def __init__(self, model: nn.Module, core: PreTrainedModel):
        self.model, self.core = model, core
        self._hooks: dict[nn.Module, list] = {}  # hooks of the recorded attention modules
        self._implementation = ""  # original implementation of attention, to restore

    def recorder_of(
        self, attention: nn.Module, stack: nn.Module
    ) -> Callable[[Recorder | None], None]:
        """Return the `set_recorder` of an attention module, whose queries `stack`'s attention_mask masks."""
        return partial(self._set_recorder, attention, stack)

    def stack_of(self, name: str, layers: nn.ModuleList, key: str) -> LayerStack:
        """Return the stack of some layers; `key` is the configuration's key for their number."""

        def set_depth(depth: int) -> None:
            setattr(self.core.config, key, depth)
            _renumber(layers)

        return LayerStack(name, layers, len(layers), set_depth)

    def _set_recorder(
        self, attention: nn.Module, stack: nn.Module, recorder: Recorder | None
    ) -> None:
        heard = bool(self._hooks)
        for hook in self._hooks.pop(attention, ()):
            hook.remove()
        if recorder is not None:
            self._hooks[attention] = _report(attention, stack, recorder, self.weights_at)
        if self._hooks and not heard:
            self._implementation = self.core.config._attn_implementation
            self.core.set_attn_implementation("eager")
        elif heard and not self._hooks:
            self.core.set_attn_implementation(self._implementation)


def _report(attention: nn.Module, stack: nn.Module, recorder: Recorder, weights_at: int) -> list:
    """Add hooks that pass each forward pass of an attention module to the recorder; return them."""
    mask: Tensor | None = None

    def see_mask(module, arguments, keywords):
        nonlocal mask
        bound = inspect.signature(module.forward).bind_partial(*arguments, **keywords)
        mask = bound.arguments.get("attention_mask")
        if mask is not None and mask.dim() != 2:
            raise ValueError(f"attention mask {tuple(mask.shape)}: give one of (batch, positions)")

    def see_weights(module, arguments, output):
        weights = output[weights_at]  # (batch, h, queries, keys); None without heads
        if weights is not None:
            # If a text is continued, the queries are its last positions.
            queries = None if mask is None else mask[:, -weights.shape[2] :].bool()
            recorder(weights, queries)

    return [
        stack.register_forward_pre_hook(see_mask, with_kwargs=True),
        attention.register_forward_hook(see_weights),
    ]


def _renumber(layers: nn.ModuleList) -> None:
    """Set the index in the key-value cache of each layer's attention modules to the layer's index."""
    for index, layer in enumerate(layers):
        for module in layer.modules():
            if hasattr(module, "layer_idx"):
                module.layer_idx = index


def count_positions(cache: Cache | None, layer: int, x: Tensor) -> None:
    """Let a self-attention without heads add the positions of x (batch, positions, d) to the key-value cache.

    The library takes the present length of the text from the keys of the first layer.
    """
    if isinstance(cache, EncoderDecoderCache):
        cache = cache.self_attention_cache
    if cache is not None:
        nothing = x.new_zeros(x.shape[0], 1, x.shape[1], 1)
        cache.update(nothing, nothing, layer)
