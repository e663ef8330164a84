"""Fast attention of single queries and a growing cache, both used by transformers' own `generate`."""

from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.activations import GELUActivation, GELUTanh, NewGELUActivation, SiLUActivation
from transformers.cache_utils import DynamicCache, DynamicLayer, EncoderDecoderCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from weebill.hugging_face.families import prunable
from weebill.kernels.extension import PORTABLE, extension
from weebill.kernels.int8_layers import Activation, Int8Linear

HEAD_STEP = 16  # the compiled attention needs head sizes that are multiples of this
ROOM = 64  # a cache grows by at least this many positions
_FUSED: dict[type[nn.Module], Activation] = {
    GELUActivation: "gelu",
    NewGELUActivation: "gelu_tanh",
    GELUTanh: "gelu_tanh",
    nn.ReLU: "relu",
    nn.SiLU: "silu",
    SiLUActivation: "silu",
}


def make_fast(model: PreTrainedModel, isa: str) -> None:
    """Fuse activations with the linear maps before them, and install attention and cache, in place."""
    family = prunable(model)
    for module, (linear, activation) in product(model.modules(), family.activated):
        if hasattr(module, linear) and hasattr(module, activation):
            inner, fused = getattr(module, linear), _FUSED.get(type(getattr(module, activation)))
            if isinstance(inner, Int8Linear) and fused:
                inner.activation = fused
                setattr(module, activation, nn.Identity())
    model.register_forward_pre_hook(_let_grow, with_kwargs=True)
    if isa != PORTABLE:
        model.set_attn_implementation(_register(isa))


def _let_grow(_model: nn.Module, _arguments: tuple, keywords: dict[str, Any]) -> None:
    """Replace the empty layers of the library's cache, if it is one that grows by copies."""
    given = keywords.get("past_key_values")
    pair = isinstance(given, EncoderDecoderCache)
    for cache in (given.self_attention_cache, given.cross_attention_cache) if pair else (given,):
        if type(cache) is DynamicCache and not cache.offloading:
            for place, layer in enumerate(cache.layers):
                if type(layer) is DynamicLayer and not layer.is_initialized:
                    cache.layers[place] = GrowingLayer()


class GrowingLayer(DynamicLayer):
    """Cache of keys and values (b, heads, positions, k) with spare room; the library's copies all at each step."""

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Implement `DynamicLayer`."""
        super().lazy_initialization(key_states, value_states)
        self.keys, self.values = key_states[:, :, :0], value_states[:, :, :0]
        self._room: list[Tensor] = []

    def update(
        self, key_states: Tensor, value_states: Tensor, *arguments, **keywords
    ) -> tuple[Tensor, Tensor]:
        """Add positions; return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        before, length = self.keys.shape[2], self.keys.shape[2] + key_states.shape[2]
        if not self._has_room(length):
            size = length + max(ROOM, length // 2)  # pages that are not written take no memory
            self._room = []
            for old in (self.keys, self.values):
                room = old.new_empty(*old.shape[:2], size, old.shape[3])
                room[:, :, :before] = old
                self._room.append(room)
        for room, new in zip(self._room, (key_states, value_states), strict=True):
            room[:, :, before:length] = new
        self.keys, self.values = (room[:, :, :length] for room in self._room)
        return self.keys, self.values

    def _has_room(self, length: int) -> bool:
        """Return True if the entries are still in the reserved memory (copied beams are not) and fit into it."""
        if not self._room:
            return False
        keys, room = self.keys, self._room[0]
        same = keys.data_ptr() == room.data_ptr() and keys.shape[0] == room.shape[0]
        return same and length <= room.shape[2]


def _register(isa: str) -> str:
    """Register attention by the compiled kernel; return its name in the library."""
    name, compiled = f"weebill_{isa}", extension(isa)

    def attend(module, query, key, value, attention_mask, scaling=None, **keywords):
        size = query.shape[-1]
        plain = keywords.get("position_bias") is None and (
            attention_mask is None
            or (attention_mask.dtype == torch.bool and attention_mask.shape[1] == 1)
        )
        if query.shape[2] > 1 or size % HEAD_STEP or not plain:
            return sdpa_attention_forward(
                module, query, key, value, attention_mask, scaling=scaling, **keywords
            )
        query, key, value = (part.detach().numpy() for part in (query, key, value))  # strided
        mask = None if attention_mask is None else attention_mask[:, 0, 0].numpy()
        group = query.shape[1] // key.shape[1]  # successive query heads share a key
        found = [
            torch.from_numpy(
                compiled.attend(query[:, one::group], key, value, mask, scaling or size**-0.5)
            )
            for one in range(group)
        ]  # each (b, 1, heads of keys, k)
        return (found[0] if group == 1 else torch.stack(found, 3).flatten(2, 3)), None

    AttentionInterface.register(name, attend)
    AttentionMaskInterface.register(name, sdpa_mask)
    return name
