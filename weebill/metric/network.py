"""Network of a COMET regression model: an encoder, a weight for each of its states, an estimator.

Its values are named as in the checkpoints' hyperparameters, with the defaults of unbabel-comet 2.2.7.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    BertModel,
    PretrainedConfig,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)
from transformers.initialization import no_init_weights

from weebill.errors import InputError, nearest

Map = Callable[[Tensor], Tensor]

REGRESSION, REFERENCELESS = KINDS = ("regression_metric", "referenceless_regression_metric")
OTHER_KINDS = {
    "ranking_metric": "ranks translations by a distance and has no estimator",
    "unified_metric": "encodes the texts of a segment together, or labels words",
    "xcomet_metric": "encodes the texts of a segment together and labels words",
}
DEFAULT_HIDDEN_SIZES = {REGRESSION: (3072, 1024), REFERENCELESS: (2048, 1024)}
# Activations of torch.nn that unbabel-comet finds, by their names in lower case.
ACTIVATIONS = ("tanh", "sigmoid", "softplus", "softsign", "hardtanh", "hardsigmoid", "mish")
CHOICES = {
    "pool": ("avg", "cls", "max", "default"),
    "layer_transformation": ("softmax", "sparsemax"),
    "activations": ACTIVATIONS,
    "final_activation": ACTIVATIONS,
}


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

    @classmethod
    def from_hyperparameters(cls, values: Mapping[str, Any], origin: str) -> "Architecture":
        """Read a checkpoint's hyperparameters, or the fields with `class_identifier` for `kind`.

        origin: the file, for errors.  Raises InputError if the model is no regression, or a value is unknown.
        """
        kind = values.get("class_identifier")
        if kind not in KINDS:
            other = OTHER_KINDS.get(str(kind))
            what = f"a {kind}, which {other}" if other else f"class_identifier {kind!r}"
            message = f"{origin}: {what}; expected a regression model ({' or '.join(KINDS)})"
            raise InputError(message)
        written = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        given = cls(**{"hidden_sizes": DEFAULT_HIDDEN_SIZES[kind], **written, "kind": kind})
        layer, hidden, final = given.layer, given.hidden_sizes, given.final_activation
        if layer != "mix" and not (type(layer) is int and layer >= 0):
            raise InputError(f"{origin}: layer: {layer!r}, expected 'mix' or the number of a layer")
        sizes = isinstance(hidden, list | tuple) and all(type(n) is int and n > 0 for n in hidden)
        if not (sizes and hidden):
            raise InputError(f"{origin}: hidden_sizes: {hidden!r}, expected a list of widths")
        patched = given.layer_transformation == "sparsemax_patch"  # written, but mixed by softmax
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


class LayerMix(nn.Module):
    """Weights of the encoder's states, the embeddings first: γ · transformation(w)."""

    def __init__(self, states: int, transformation: str) -> None:
        super().__init__()
        self.transformation = transformation
        self.weights = nn.Parameter(torch.zeros(states))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self) -> Tensor:
        """Return the weights (states,)."""
        softmax = self.transformation == "softmax"
        return self.gamma * (self.weights.softmax(0) if softmax else sparsemax(self.weights))


def sparsemax(x: Tensor) -> Tensor:
    """Project x (n,) to the probability simplex (Martins and Astudillo 2016, algorithm 1)."""
    ordered = x.sort(descending=True).values
    counts = torch.arange(1, len(x) + 1, dtype=x.dtype, device=x.device)
    excess = ordered.cumsum(0) - 1  # sum of the k largest, minus 1
    support = (ordered * counts > excess).sum()
    return (x - excess[support - 1] / support).clamp(min=0)


class Estimator(nn.Module):
    """Regression from features of segments (n, blocks · d) to scores (n,)."""

    def __init__(self, architecture: Architecture, width: int) -> None:
        super().__init__()
        sizes = (architecture.blocks * width, *architecture.hidden_sizes, 1)
        self.linears = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(sizes))
        self.hidden, self.final = (
            getattr(nn, (name or "identity").title())()
            for name in (architecture.activations, architecture.final_activation)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Map (n, blocks · d) → (n,)."""
        return self.apply_maps(features, self.linears)

    def apply_maps(self, x: Tensor, maps: Iterable[Map], first: bool = True) -> Tensor:
        """Map x (n, …) → (n,) by `maps` in place of `linears`; without `first`, x is the output of the first map."""
        for number, one in enumerate(maps):
            x = one(x if first and not number else self.hidden(x))
        return self.final(x).squeeze(-1)


class MetricNetwork(nn.Module):
    """Regression model.  encoder: a model of transformers, as COMET uses them (XLM-R, BERT)."""

    def __init__(self, architecture: Architecture, encoder: PreTrainedModel) -> None:
        """Assemble the parts.  Raises InputError if the encoder lacks the layer that the architecture names."""
        super().__init__()
        self.architecture = architecture
        self.encoder = encoder
        self.mix = None
        states = encoder.config.num_hidden_layers + 1
        if architecture.layer == "mix":
            self.mix = LayerMix(states, architecture.layer_transformation)
        elif architecture.layer >= states:
            raise InputError(
                f"layer {architecture.layer}: the encoder has states 0 to {states - 1}; name one of them, or 'mix'"
            )
        self.estimator = Estimator(architecture, encoder.config.hidden_size)

    def state_weights(self) -> Tensor:
        """Return the weight of each encoder state in a sentence's vector (states,)."""
        layer = -1 if self.architecture.pool == "default" else self.architecture.layer
        if layer == "mix":
            return self.mix()
        return torch.eye(self.encoder.config.num_hidden_layers + 1)[layer]


def new_encoder(
    values: dict[str, Any], kind: type[PretrainedConfig], origin: str | Path
) -> PreTrainedModel:
    """Make an encoder without pooler, with arbitrary weights.  Raises InputError if the values make none."""
    network = XLMRobertaModel if kind is XLMRobertaConfig else BertModel
    try:
        with no_init_weights():
            return network(kind.from_dict(values), add_pooling_layer=False)
    except Exception as error:  # the library checks few values; others fail later
        message = f"{origin}: the encoder's configuration is damaged ({reason(error)}); make it or fetch it again"
        raise InputError(message) from error


def reason(error: Exception) -> str:
    """Return the first line of a library's error, or its class if there is no text.

    PyTorch's advice to read a pickle without `weights_only`, which executes its code, is left out.
    """
    lines = (line.strip() for line in str(error).splitlines() if "weights_only" not in line)
    return next((line for line in lines if line), type(error).__name__)
