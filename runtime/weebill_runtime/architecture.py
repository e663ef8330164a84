"""Shape of a translation model, which the zoo and the `config.json` of a model folder describe."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, get_args

from weebill_runtime.errors import InputError, nearest

DecoderKind = Literal["ssru", "attention"]
# Smallest and largest value of each stored number: heads and neurons may all be pruned.  The upper bounds are far
# above any model, and low enough that a damaged number is noticed before it costs much memory or time.
RANGES = {
    "vocabulary": (1, 2**20),
    "source_vocabulary": (1, 2**20),
    "embedding": (1, 2**14),
    "decoder_depth": (1, 2**10),
    "heads": (0, 2**14),
    "head_size": (1, 2**14),
    "feed_forward": (0, 2**20),
    "self_heads": (0, 2**14),
}


@dataclass(frozen=True)
class LayerShape:
    """One layer's widths; pruning makes them differ from layer to layer.

    heads: heads of the encoder's self-attention or the decoder's cross-attention; 0 if all were pruned.
    self_heads: heads of a self-attention decoder's self-attention; 0 in encoders and SSRU decoders.
    """

    heads: int
    head_size: int
    feed_forward: int
    self_heads: int = 0


@dataclass(frozen=True)
class Architecture:
    """Post-norm transformer encoder with an SSRU or self-attention decoder.

    decoder holds one shape per *distinct* layer: a tied decoder has one, applied `decoder_depth` times.
    source_vocabulary: pieces of the source's own vocabulary and embeddings; None if `vocabulary` serves both.
    """

    vocabulary: int
    embedding: int
    encoder: tuple[LayerShape, ...]
    decoder: tuple[LayerShape, ...]
    decoder_depth: int
    decoder_kind: DecoderKind = "ssru"
    source_vocabulary: int | None = None

    @classmethod
    def from_zoo(
        cls,
        entry: Mapping[str, Any],
        vocabulary: int | None = None,
        source_vocabulary: int | None = None,
    ) -> "Architecture":
        """Return the architecture of a `config/models.yaml` entry; `vocabulary` overrides the entry's size.

        Raises ValueError if attention_width is not a multiple of heads.
        """
        heads, width, neurons = entry["heads"], entry["attention_width"], entry["feed_forward"]
        if width % heads:
            raise ValueError(f"attention width {width} is no multiple of {heads} heads")
        attends = entry["decoder"] == "attention"
        encoder = LayerShape(heads, width // heads, neurons)
        decoder = LayerShape(heads, width // heads, neurons, heads if attends else 0)
        depth = entry["decoder_layers"]
        return cls(
            vocabulary=vocabulary or entry["vocabulary"],
            embedding=entry["embedding"],
            encoder=(encoder,) * entry["encoder_layers"],
            decoder=(decoder,) * (1 if entry["decoder_tied"] else depth),
            decoder_depth=depth,
            decoder_kind=entry["decoder"],
            source_vocabulary=source_vocabulary,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Architecture":
        """Return the architecture that `to_dict` wrote.

        Raises InputError with the key that is missing, unknown, or has a value that no network can have.
        Some damage stays unnoticed: a tied decoder may be applied any number of times.
        """
        _check_fields(cls, values, "architecture")
        layers = {side: _layers(values[side], f"architecture.{side}") for side in _SIDES}
        found = cls(**{**values, **layers})
        distinct, depth = len(found.decoder), found.decoder_depth
        if distinct not in (1, depth):
            expected = f"{depth}, or 1 that is tied"
            problem = f"{distinct} layers where decoder_depth is {depth}, expected {expected}"
            raise InputError(f"architecture.decoder: {problem}")
        return found

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Pieces of the target's, or shared, vocabulary, and of the source's own, like `Vocabulary.sizes`."""
        return self.vocabulary, self.source_vocabulary

    @property
    def source_pieces(self) -> int:
        """Number of pieces of the sources' vocabulary, its own or the shared one."""
        return self.source_vocabulary or self.vocabulary

    @property
    def parameters(self) -> int:
        """Number of stored weights; tied layers and an embedding that is the output layer too count once."""
        width = self.embedding
        normalisation, ssru = 2 * width, 2 * width * width + width
        count = self.vocabulary * (width + 1)  # with the output layer's bias
        count += (self.source_vocabulary or 0) * width
        for layer in (*self.encoder, *self.decoder):
            neurons = layer.feed_forward
            count += _attention(width, layer.heads * layer.head_size) + normalisation
            count += 2 * width * neurons + neurons + width + normalisation
        for layer in self.decoder:
            attends = self.decoder_kind == "attention"
            count += _attention(width, layer.self_heads * layer.head_size) if attends else ssru
            count += normalisation
        return count

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without `source_vocabulary` if both languages share one."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def _attention(width: int, heads_width: int) -> int:
    """Count the weights of an attention: query, key, value and output, each with its bias."""
    return 4 * width * heads_width + 3 * heads_width + width


_SIDES = ("encoder", "decoder")


def _layers(values: Any, place: str) -> tuple[LayerShape, ...]:
    """Return the shapes of one side's layers; both translators need at least one on each side."""
    if not isinstance(values, list | tuple) or not values:
        raise InputError(f"{place}: {_shown(values)}, expected a list of at least one layer")
    for index, layer in enumerate(values):
        _check_fields(LayerShape, layer, f"{place}[{index}]")
    return tuple(LayerShape(**layer) for layer in values)


def _check_fields(kind: type, values: Any, place: str) -> None:
    """Raise InputError unless values map the fields of a dataclass to values, with numbers in their RANGES."""
    if not isinstance(values, Mapping):
        raise InputError(f"{place}: {_shown(values)}, expected keys and values")
    known = {field.name: field for field in fields(kind)}
    for name in values:
        if name not in known:
            raise InputError(f"{place}: unknown key '{name}'{nearest(name, known)}")
    for name, field in known.items():
        if name not in values:
            if field.default is MISSING:
                raise InputError(f"{place}: key '{name}' is missing")
            continue
        expected = None
        if name in RANGES:
            least, most = RANGES[name]
            # Only whole numbers are valid: 4.0 is a float, and True is an int in Python.
            if type(values[name]) is not int or not least <= values[name] <= most:
                expected = f"a whole number from {least} to {most:,}"
        elif name == "decoder_kind" and values[name] not in get_args(DecoderKind):
            expected = " or ".join(get_args(DecoderKind))
        if expected:
            raise InputError(f"{place}.{name}: {_shown(values[name])}, expected {expected}")


def _shown(value: Any) -> str:
    return f"{value!r:.60}"
