"""Packing of networks for the runtime: fused linear maps, padded heads, weights in the type of the products."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.quantization.modules import QuantizedLinear
from weebill.translation.model.layers import Attention, DecoderLayer, EncoderLayer
from weebill.translation.model.network import Translator

VECTOR = 16  # numbers of a head are padded to a multiple of this


class Packer:
    """Converter of a network to the extension's tensors; numbers: type of the products: int8, float32, bfloat16."""

    def __init__(self, numbers: str):
        self.numbers = numbers
        self.integer = numbers == "int8"

    def network(self, network: Translator) -> dict:
        table = self._table(network.embedding)
        own = network.source_embedding
        return {
            "embedding": table,
            "source_embedding": table if own is None else self._table(own),
            "encoder": [self._encoder(layer) for layer in network.encoder],
            "decoder": [self._decoder(layer) for layer in network.decoder],
            "decoder_depth": network.decoder_depth,
            "recurrent": network.decoder_kind == "ssru",
            "output": self._linear([network.output]),
        }

    def _table(self, embedding: nn.Module) -> dict:
        weight, scale = self._weight(embedding)
        return {"weight": weight, "scale": scale.expand(weight.shape[0]).contiguous()}

    def _encoder(self, layer: EncoderLayer) -> dict:
        attention = layer.self_attention
        return {
            "heads": _heads(attention),
            "projections": self._projections(attention, "query", "key", "value"),
            "out": self._out(attention),
            "attention_norm": _norm(layer.attention_norm),
            **self._feed_forward(layer),
        }

    def _decoder(self, layer: DecoderLayer) -> dict:
        attention = layer.cross_attention
        parts = {
            "self_norm": _norm(layer.self_norm),
            "heads": _heads(attention),
            "query": self._projections(attention, "query"),
            "memory": self._projections(attention, "key", "value"),
            "out": self._out(attention),
            "attention_norm": _norm(layer.cross_norm),
            **self._feed_forward(layer),
        }
        if layer.kind == "ssru":
            unit = layer.recurrence
            return parts | {"gates": self._linear([unit.candidate, unit.forget])}
        own = layer.self_attention
        return parts | {
            "self_heads": _heads(own),
            "self_projections": self._projections(own, "query", "key", "value"),
            "self_out": self._out(own),
        }

    def _feed_forward(self, layer: EncoderLayer | DecoderLayer) -> dict:
        return {
            "inner": self._linear([layer.feed_forward.inner]),
            "outer": self._linear([layer.feed_forward.outer]),
            "feed_forward_norm": _norm(layer.feed_forward_norm),
        }

    def _projections(self, attention: Attention, *names: str) -> dict:
        """Fuse some of query, key, value into one map; pad the outputs of each head with zeros."""
        packed = self._linear([getattr(attention, name) for name in names])
        for name in ("weight", "step", "bias"):
            packed[name] = _padded_heads(packed[name], attention)
        return packed

    def _out(self, attention: Attention) -> dict:
        """Return the output map, its inputs padded as the heads are."""
        packed = self._linear([attention.out])
        packed["weight"] = _padded_heads(packed["weight"].T, attention).T.contiguous()
        return packed

    def _linear(self, maps: Sequence[nn.Linear | QuantizedLinear]) -> dict:
        """Stack maps of one input."""
        weights, weight_scales = zip(*map(self._weight, maps), strict=True)
        given = [getattr(one, "activation_scale", None) for one in maps if one.weight.numel()]
        scales = {1.0 if scale is None else float(scale) for scale in given} or {1.0}
        if len(scales) > 1:
            raise InputError(
                f"maps of one input have the activation scales {sorted(scales)}, and want one; quantize the model "
                "again"
            )
        scale = scales.pop() if self.integer else 1.0
        steps, biases = [], []
        for one, weight, weight_scale in zip(maps, weights, weight_scales, strict=True):
            step = 1 / (torch.tensor(scale) * weight_scale) if self.integer else torch.ones(1)
            steps.append(step.expand(len(weight)))
            biases.append(
                torch.zeros(len(weight)) if one.bias is None else one.bias.detach().float()
            )
        return {
            "weight": torch.cat(weights),
            "step": torch.cat(steps).contiguous(),
            "bias": torch.cat(biases),
            "scale": scale,
        }

    def _weight(self, module: nn.Module) -> tuple[Tensor, Tensor]:
        """Return a weight (rows, columns) as int8 codes, float32 or bfloat16 bits, and its scale (1,) or (rows,)."""
        if not self.integer:
            weight = module.weight.detach().float()
            if self.numbers == "bfloat16":
                weight = weight.bfloat16().view(torch.int16)
            return weight, torch.ones(1)
        if not module.weight.numel():  # no heads or no neurons are left: never on a grid
            return module.weight.to(torch.int8), torch.ones(1)
        quantized = getattr(module, "quantized", None)
        if quantized is None or not quantized.grid.integer:
            raise InputError(
                "the runtime wants all weights of an int8 student in int8; this one leaves some in "
                "float32 (config.json: quantization.skip)"
            )
        return quantized.integers().contiguous(), quantized.scale.float().flatten()


def _norm(norm: nn.LayerNorm) -> dict:
    return {"gain": norm.weight.detach().float(), "bias": norm.bias.detach().float()}


def _heads(attention: Attention) -> dict:
    size = attention.head_size
    return {"count": attention.heads, "size": _padded(size), "scale": 1 / math.sqrt(size)}


def _padded(number: int) -> int:
    return -(-number // VECTOR) * VECTOR


def _padded_heads(x: Tensor, attention: Attention) -> Tensor:
    """Pad every head of x (times·h·k, …) with zeros."""
    size, padded = attention.head_size, _padded(attention.head_size)
    heads = x.new_zeros(len(x) // size, padded, *x.shape[1:])
    heads[:, :size] = x.unflatten(0, (len(heads), size))
    return heads.flatten(0, 1)
