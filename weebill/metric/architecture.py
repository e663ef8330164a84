"""Architecture of a COMET model, named as in a checkpoint's hyperparameters, with unbabel-comet 2.2.7's defaults."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from typing import Any

from weebill.errors import InputError, abridged, nearest

REGRESSION, REFERENCELESS, RANKING, UNIFIED, XCOMET = KINDS = (
    "regression_metric",
    "referenceless_regression_metric",
    "ranking_metric",
    "unified_metric",
    "xcomet_metric",
)
JOINED = (UNIFIED, XCOMET)  # encode the texts of a segment together
TEXTS = {"mt": "translations", "src": "sources", "ref": "references"}
# Defaults of a class that differ from those of `Architecture`.
DEFAULTS: dict[str, dict[str, Any]] = {
    REFERENCELESS: {"hidden_sizes": (2048, 1024)},
    UNIFIED: {"layer_transformation": "sparsemax"},
    XCOMET: {"layer_transformation": "sparsemax", "layer_norm": False, "hidden_sizes": (2560, 1280)},
}  # fmt: skip
WORD_LAYERS = {UNIFIED: 24, XCOMET: 36}
SEVERITIES = {UNIFIED: ("minor", "major"), XCOMET: ("minor", "major", "critical")}
# Activations of torch.nn that unbabel-comet finds, by their names in lower case.
ACTIVATIONS = ("tanh", "sigmoid", "softplus", "softsign", "hardtanh", "hardsigmoid", "mish")
CHOICES = {
    "pool": ("avg", "cls", "max", "default"),
    "layer_transformation": ("softmax", "sparsemax"),
    "activations": ACTIVATIONS,
    "final_activation": ACTIVATIONS,
}
WIDEST, MOST_WEIGHTS = 1 << 14, 1 << 28  # of an estimator; published widths are up to 3,072


@dataclass(frozen=True)
class Joint:
    """Joint encoding of a segment's texts (Wan et al. 2022, UniTE), and labels of the translation's pieces.

    texts: those that the model reads, the translation first: ("mt", "src"), ("mt", "ref") or all three.
    separators: number of pieces between two texts.  typed: True if BERT's second type marks the pieces after the
    translation.  word_layer: number of the encoder state that is labelled; None: no labels.  severities: names of
    the labels except the first, which means no error.
    """

    texts: tuple[str, ...] = tuple(TEXTS)
    separators: int = 2
    typed: bool = False
    word_layer: int | None = None
    severities: tuple[str, ...] = ()

    @classmethod
    def from_hyperparameters(cls, kind: str, values: Mapping[str, Any], origin: str) -> "Joint":
        """Read a checkpoint's hyperparameters.  Raises InputError for invalid texts, layers or labels."""
        encoder = values.get("encoder_model")
        made = cls(separators=1 if encoder in ("BERT", "RemBERT") else 2, typed=encoder == "BERT")
        labels = SEVERITIES[kind]
        if kind == UNIFIED:
            given = values.get("input_segments", made.texts)
            named = isinstance(given, list | tuple) and all(one in tuple(TEXTS) for one in given)
            if not (named and "mt" in given and len(set(given)) > 1):
                message = f"input_segments: {given!r}, expected mt, and src or ref or both"
                raise InputError(f"{origin}: {message}")
            made = replace(made, texts=tuple(name for name in TEXTS if name in given))
            labels = values.get("error_labels", labels)
            trained = values.get("word_level_training", False)
            if not isinstance(trained, bool | None):
                message = f"word_level_training: {trained!r}, expected true or false"
                raise InputError(f"{origin}: {message}")
            if not trained:
                return made
        layer = values.get("word_layer", WORD_LAYERS[kind])
        if not (type(layer) is int and layer >= 0):
            raise InputError(f"{origin}: word_layer: {layer!r}, expected the number of a layer")
        if not (isinstance(labels, list | tuple) and all(isinstance(one, str) for one in labels)):
            raise InputError(f"{origin}: error_labels: {labels!r}, expected a list of names")
        return replace(made, word_layer=layer, severities=tuple(labels))


@dataclass(frozen=True)
class Architecture:
    """Architecture of a COMET model (Rei et al. 2020).

    kind: class of unbabel-comet.  layer: "mix", or the number of one encoder state, 0 for the embeddings.
    pool: mean of a sentence's states, their maximum, or the first piece's state; "default": the first piece
    of the last state, for every `layer`.  layer_norm: normalise each state over the sentence.
    hidden_sizes and activations: of the estimator, which ranking models lack.  joint: only for the kinds JOINED.
    """

    kind: str = REGRESSION
    pool: str = "avg"
    layer: str | int = "mix"
    layer_transformation: str = "softmax"
    layer_norm: bool = True
    hidden_sizes: tuple[int, ...] = (3072, 1024)
    activations: str = "tanh"
    final_activation: str | None = None
    joint: Joint | None = None

    @property
    def needs_references(self) -> bool:
        """True if the model compares translations with references too."""
        return "ref" in self.texts

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of a segment that the model reads, as keys of TEXTS."""
        if self.joint is not None:
            return self.joint.texts
        return ("mt", "src") if self.kind == REFERENCELESS else tuple(TEXTS)

    @property
    def optional(self) -> bool:
        """True if one of sources and references may be missing."""
        return self.joint is not None and len(self.texts) == len(TEXTS)

    @property
    def blocks(self) -> int:
        """Number of concatenated vectors at the estimator's input; 0 without an estimator."""
        if self.joint is not None:
            return 1
        return {REGRESSION: 6, REFERENCELESS: 4, RANKING: 0}[self.kind]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; models without a joint encoding have no such key."""
        values = asdict(self)
        if self.joint is None:
            del values["joint"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], origin: str) -> "Architecture":
        """Read the result of `to_dict`.  Raises InputError if a value is unknown."""
        _check_kind(values.get("kind"), origin)
        written = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        if isinstance(joint := written.get("joint"), Mapping):
            lists = {name: tuple(value) for name, value in joint.items() if isinstance(value, list)}
            try:
                written["joint"] = Joint(**{**joint, **lists})
            except TypeError as error:
                raise InputError(f"{origin}: joint: {error}; make the metric again") from error
        return _checked(cls(**written), origin)

    @classmethod
    def from_hyperparameters(cls, values: Mapping[str, Any], origin: str) -> "Architecture":
        """Read a checkpoint's hyperparameters.

        origin: the file, for errors.  Raises InputError if the class is not one of KINDS, or a value is unknown.
        """
        kind = values.get("class_identifier")
        _check_kind(kind, origin)
        written = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        if kind in JOINED:
            joint = Joint.from_hyperparameters(kind, values, origin)
            written |= {"joint": joint, "pool": "cls", "layer": values.get("sent_layer", "mix")}
        return _checked(cls(**{**DEFAULTS.get(kind, {}), **written, "kind": kind}), origin)


def _check_kind(kind: Any, origin: str) -> None:
    if kind not in KINDS:
        message = f"{origin}: class_identifier {kind!r}, expected {', '.join(KINDS)}{nearest(str(kind), KINDS)}"
        raise InputError(message)


def _checked(given: Architecture, origin: str) -> Architecture:
    """Return an architecture with names in lower case.  Raises InputError if a value is unknown."""
    layer, hidden, final = given.layer, given.hidden_sizes, given.final_activation
    if layer != "mix" and not (type(layer) is int and layer >= 0):
        raise InputError(f"{origin}: layer: {layer!r}, expected 'mix' or the number of a layer")
    if not isinstance(given.layer_norm, bool | None):
        raise InputError(f"{origin}: layer_norm: {given.layer_norm!r}, expected true or false")
    sizes = isinstance(hidden, list | tuple) and all(type(n) is int and n > 0 for n in hidden)
    if not (sizes and hidden):
        raise InputError(f"{origin}: hidden_sizes: {hidden!r}, expected a list of widths")
    if max(hidden) > WIDEST or sum(i * o for i, o in pairwise(hidden)) > MOST_WEIGHTS:
        message = f"{abridged(hidden, 60)}, expected {WIDEST:,} at most each, and {MOST_WEIGHTS:,} weights"
        raise InputError(f"{origin}: hidden_sizes: {message}")
    patched = given.layer_transformation == "sparsemax_patch"  # mixed by softmax anyway
    found = replace(
        given,
        layer_transformation="softmax" if patched else given.layer_transformation,
        layer_norm=bool(given.layer_norm),
        hidden_sizes=tuple(hidden),
        activations=str(given.activations).lower(),
        final_activation=None if final is None else str(final).lower(),
    )
    for key, known in CHOICES.items():
        value = getattr(found, key)
        if value not in known and not (key == "final_activation" and value is None):
            message = f"{origin}: {key}: {value!r}, expected {', '.join(known)}{nearest(str(value), known)}"
            raise InputError(message)
    return found
