"""Network of a COMET regression model: an encoder, a weight for each of its states, an estimator."""

from collections.abc import Callable, Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.metric.architecture import Architecture

Map = Callable[[Tensor], Tensor]


class LayerMix(nn.Module):
    """Weights of the encoder's states, the embeddings first: γ · transformation(w)."""

    def __init__(self, states: int, transformation: str) -> None:
        super().__init__()
        self.transformation = transformation
        self.weights = nn.Parameter(torch.zeros(states))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self) -> Tensor:
        """Return the weights (states,)."""
        probabilities = torch.softmax if self.transformation == "softmax" else sparsemax
        return self.gamma * probabilities(self.weights, 0)


def sparsemax(x: Tensor, dim: int = 0) -> Tensor:
    """Project x to the probability simplex along `dim` (Martins and Astudillo 2016, algorithm 1)."""
    ordered = x.sort(dim, descending=True).values.movedim(dim, -1)
    counts = torch.arange(1, ordered.shape[-1] + 1, dtype=x.dtype, device=x.device)
    excess = ordered.cumsum(-1) - 1  # sum of the k largest, minus 1
    support = (ordered * counts > excess).sum(-1, keepdim=True)
    threshold = (excess.gather(-1, support - 1) / support).movedim(-1, dim)
    return (x - threshold).clamp(min=0)


class Estimator(nn.Module):
    """Regression from features of segments (n, blocks · d) to scores (n,)."""

    def __init__(self, architecture: Architecture, width: int) -> None:
        super().__init__()
        sizes = (architecture.blocks * width, *architecture.hidden_sizes, 1)
        self.linears = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(sizes))
        self.hidden = _activation(architecture.activations)
        final = architecture.final_activation
        self.final = nn.Identity() if final is None else _activation(final)

    def forward(self, features: Tensor) -> Tensor:
        """Map (n, blocks · d) → (n,)."""
        return self.apply_maps(features, self.linears)

    def apply_maps(self, x: Tensor, maps: Iterable[Map], first: bool = True) -> Tensor:
        """Map x (n, …) → (n,) by `maps` in place of `linears`; without `first`, x is the output of the first map."""
        for number, one in enumerate(maps):
            x = one(x if first and not number else self.hidden(x))
        return self.final(x).squeeze(-1)


def _activation(name: str) -> nn.Module:
    return getattr(nn, name.title())()


class MetricNetwork(nn.Module):
    """Regression model.  encoder: a model of transformers, as COMET uses them (XLM-R, BERT)."""

    def __init__(self, architecture: Architecture, encoder: PreTrainedModel) -> None:
        """Assemble the parts.  Raises InputError if the encoder lacks the layer that the architecture names."""
        super().__init__()
        self.architecture = architecture
        self.encoder = encoder
        states = encoder.config.num_hidden_layers + 1
        if architecture.layer == "mix":
            self.mix = LayerMix(states, architecture.layer_transformation)
        elif architecture.layer >= states:
            raise InputError(
                f"layer {architecture.layer}: the encoder has states 0 to {states - 1}; "
                "name one of them, or 'mix'"
            )
        else:
            self.mix = None
        self.estimator = Estimator(architecture, encoder.config.hidden_size)

    def state_weights(self) -> Tensor:
        """Return the weight of each encoder state in a sentence's vector (states,)."""
        if self.architecture.pool == "default":
            return torch.eye(self.encoder.config.num_hidden_layers + 1)[-1]
        if self.mix is not None:
            return self.mix()
        weights = torch.zeros(self.encoder.config.num_hidden_layers + 1)
        weights[self.architecture.layer] = 1
        return weights
