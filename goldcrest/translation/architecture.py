"""The shape of a translation model: what `config.json` of a model folder and the zoo describe."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

DecoderKind = Literal["ssru", "attention"]


@dataclass(frozen=True)
class LayerShape:
    """One layer's widths; pruning makes them differ from layer to layer.

    heads: of the encoder's self-attention or the decoder's cross-attention; 0 where all were pruned.
    self_heads: of a self-attention decoder's self-attention; 0 in encoders and SSRU decoders.
    """

    heads: int
    head_size: int
    feed_forward: int
    self_heads: int = 0


@dataclass(frozen=True)
class Architecture:
    """A post-norm transformer encoder with an SSRU or self-attention decoder.

    decoder holds one shape per *distinct* layer: a tied decoder has one, applied `decoder_depth` times.
    """

    vocabulary: int
    embedding: int
    encoder: tuple[LayerShape, ...]
    decoder: tuple[LayerShape, ...]
    decoder_depth: int
    decoder_kind: DecoderKind = "ssru"

    @classmethod
    def from_zoo(cls, entry: Mapping[str, Any], vocabulary: int | None = None) -> "Architecture":
        """The architecture of a `config/models.yaml` entry; `vocabulary` overrides the entry's size.

        Raises ValueError where attention_width is no multiple of heads.
        """
        heads = entry["heads"]
        head_size, remainder = divmod(entry["attention_width"], heads)
        if remainder:
            raise ValueError(
                f"attention width {entry['attention_width']} is no multiple of {heads} heads"
            )
        attends = entry["decoder"] == "attention"
        encoder = LayerShape(heads, head_size, entry["feed_forward"])
        decoder = LayerShape(heads, head_size, entry["feed_forward"], heads if attends else 0)
        depth = entry["decoder_layers"]
        return cls(
            vocabulary=vocabulary or entry["vocabulary"],
            embedding=entry["embedding"],
            encoder=(encoder,) * entry["encoder_layers"],
            decoder=(decoder,) * (1 if entry["decoder_tied"] else depth),
            decoder_depth=depth,
            decoder_kind=entry["decoder"],
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Architecture":
        """The inverse of `to_dict`."""
        layers = {
            side: tuple(LayerShape(**layer) for layer in values[side])
            for side in ("encoder", "decoder")
        }
        return cls(**{**values, **layers})

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
