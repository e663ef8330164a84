"""Architecture of COMET regression models around their encoder: layer mix, pooling and estimator.

Values are named as in the checkpoints' hyperparameters, with the defaults of unbabel-comet 2.2.7.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from weebill.errors import InputError, nearest

REGRESSION, REFERENCELESS = "regression_metric", "referenceless_regression_metric"
KINDS = (REGRESSION, REFERENCELESS)
OTHER_KINDS = {
    "ranking_metric": "ranks translations by a distance and has no estimator",
    "unified_metric": "encodes the texts of a segment together, or labels words",
    "xcomet_metric": "encodes the texts of a segment together and labels words",
}
POOLS = ("avg", "cls", "max", "default")
TRANSFORMATIONS = ("softmax", "sparsemax")
# Activations of torch.nn that unbabel-comet finds, by their names in lower case.
ACTIVATIONS = ("tanh", "sigmoid", "softplus", "softsign", "hardtanh", "hardsigmoid", "mish")
DEFAULT_HIDDEN_SIZES = {REGRESSION: (3072, 1024), REFERENCELESS: (2048, 1024)}


@dataclass(frozen=True)
class Architecture:
    """Architecture of a regression model (Rei et al. 2020).

    kind: with or without references.  layer: "mix", or the number of one encoder state, 0 for the embeddings.
    pool: mean of a sentence's states, their maximum, or the first piece's state; "default": the first piece
    of the last state, for every `layer`.  layer_norm: normalise each state over the sentence.
    """

    kind: str = REGRESSION
    pool: str = "avg"
    layer: str | int = "mix"
    layer_transformation: str = "softmax"
    layer_norm: bool = True
    hidden_sizes: tuple[int, ...] = DEFAULT_HIDDEN_SIZES[REGRESSION]
    activations: str = "tanh"
    final_activation: str | None = None

    @property
    def needs_references(self) -> bool:
        """True if the model compares translations with references too."""
        return self.kind == REGRESSION

    @property
    def blocks(self) -> int:
        """Number of concatenated sentence vectors at the estimator's input."""
        return 6 if self.needs_references else 4

    @property
    def piece_pool(self) -> str:
        """Pooling of the mixed states' pieces to a vector: avg, cls or max."""
        return "cls" if self.pool == "default" else self.pool

    @property
    def normalises(self) -> bool:
        """True if states are normalised before they are mixed."""
        return self.layer_norm and self.layer == "mix" and self.pool != "default"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for config.json."""
        return {**asdict(self), "hidden_sizes": list(self.hidden_sizes)}

    @classmethod
    def from_hyperparameters(cls, values: Mapping[str, Any], origin: str) -> "Architecture":
        """Read a checkpoint's hyperparameters, or the result of `to_dict` with `class_identifier` for `kind`.

        origin: the file, for errors.  Raises InputError if the model is no regression, or a value is unknown.
        """
        kind = _kind(values.get("class_identifier"), origin)
        layer = values.get("layer", "mix")
        if layer != "mix" and not (type(layer) is int and layer >= 0):
            raise InputError(f"{origin}: layer: {layer!r}, expected 'mix' or the number of a layer")
        transformation = values.get("layer_transformation", "softmax")
        if (
            transformation == "sparsemax_patch"
        ):  # unbabel-comet writes this for models that it mixes by softmax
            transformation = "softmax"
        hidden = values.get("hidden_sizes", DEFAULT_HIDDEN_SIZES[kind])
        sizes = isinstance(hidden, list | tuple) and all(type(n) is int and n > 0 for n in hidden)
        if not (sizes and hidden):
            raise InputError(f"{origin}: hidden_sizes: {hidden!r}, expected a list of widths")
        final = values.get("final_activation")
        return cls(
            kind=kind,
            pool=_one_of("pool", values.get("pool", "avg"), POOLS, origin),
            layer=layer,
            layer_transformation=_one_of(
                "layer_transformation", transformation, TRANSFORMATIONS, origin
            ),
            layer_norm=bool(values.get("layer_norm", True)),
            hidden_sizes=tuple(hidden),
            activations=_activation("activations", values.get("activations", "Tanh"), origin),
            final_activation=(
                None if final is None else _activation("final_activation", final, origin)
            ),
        )


def _kind(name: Any, origin: str) -> str:
    if name in KINDS:
        return name
    wanted = f"expected a regression model ({' or '.join(KINDS)})"
    if isinstance(name, str) and name in OTHER_KINDS:
        raise InputError(f"{origin}: a {name}, which {OTHER_KINDS[name]}; {wanted}")
    raise InputError(f"{origin}: class_identifier {name!r}; {wanted}")


def _activation(key: str, value: Any, origin: str) -> str:
    return _one_of(key, str(value).lower(), ACTIVATIONS, origin)


def _one_of(key: str, value: Any, known: tuple[str, ...], origin: str) -> str:
    if value not in known:
        raise InputError(
            f"{origin}: {key}: {value!r}, expected {', '.join(known)}{nearest(str(value), known)}"
        )
    return value
