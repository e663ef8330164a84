"""Network of a COMET model: an encoder, a weight for each of its states, an estimator, labels of pieces.

Weights of the encoder may be held as int8 codes: w (outputs, inputs) ≈ code / scale, with a scale per row.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    BertModel,
    PreTrainedModel,
    RemBertModel,
    XLMRobertaModel,
    XLMRobertaXLModel,
)
from transformers.initialization import no_init_weights

from weebill.errors import InputError, first_line
from weebill.hugging_face.loading import library_alone
from weebill.metric.architecture import Architecture

Map = Callable[[Tensor], Tensor]
MODELS = (XLMRobertaModel, XLMRobertaXLModel, BertModel, RemBertModel)
ENCODERS: dict[str, type[PreTrainedModel]] = {one.config_class.model_type: one for one in MODELS}
# Keys are COMET's names; MiniLM has BERT's shape and XLM-R's pieces.
FAMILIES: dict[str, type[PreTrainedModel]] = {
    "XLM-RoBERTa": XLMRobertaModel,
    "XLM-RoBERTa-XL": XLMRobertaXLModel,
    "MiniLM": BertModel,
    "BERT": BertModel,
    "RemBERT": RemBertModel,
}
AFTER_PADDING = (XLMRobertaModel, XLMRobertaXLModel)  # count positions from the one after padding's
PRUNED = "pruned_heads"  # key of a config.json: heads that are cut away, by layer


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
        """Map x (n, …) → (n,) by `maps` in place of `linears`; without `first`, x already went through the first."""
        for number, one in enumerate(maps):
            x = one(x if first and not number else self.hidden(x))
        return self.final(x).squeeze(-1)


class MetricNetwork(nn.Module):
    """COMET model.  encoder: one of transformers' ENCODERS, without pooler.

    mix, estimator and tagger (the map from states to labels of pieces) are None in models that have none.
    """

    def __init__(self, architecture: Architecture, encoder: PreTrainedModel) -> None:
        """Assemble the parts.  Raises InputError if the encoder lacks a layer that the architecture names."""
        super().__init__()
        self.architecture = architecture
        self.encoder = encoder
        self.mix = self.estimator = self.tagger = None
        width, states = encoder.config.hidden_size, encoder.config.num_hidden_layers + 1
        joint = architecture.joint
        if architecture.layer == "mix":
            self.mix = LayerMix(states, architecture.layer_transformation)
        for layer in (architecture.layer, None if joint is None else joint.word_layer):
            if isinstance(layer, int) and layer >= states:
                raise InputError(
                    f"layer {layer}: the encoder has states 0 to {states - 1}; name one of them, or 'mix'"
                )
        if architecture.blocks:
            self.estimator = Estimator(architecture, width)
        if joint is not None and joint.word_layer is not None:
            self.tagger = nn.Linear(width, len(joint.severities) + 1)

    def state_weights(self) -> Tensor:
        """Return the weight of each encoder state in a sentence's vector (states,)."""
        layer = -1 if self.architecture.pool == "default" else self.architecture.layer
        if layer == "mix":
            return self.mix()
        return torch.eye(self.encoder.config.num_hidden_layers + 1)[layer]

    def last_state(self) -> int:
        """Return the number of the last encoder state in a sentence's vector; those above have no weight."""
        used = self.state_weights().detach().nonzero()
        return int(used.max()) if len(used) else 0


def count_numbers(network: nn.Module) -> int:
    """Count a network's parameters, including weights that are held as int8 codes."""
    codes = (one.numel() for one in network.buffers() if one.dtype == torch.int8)
    return sum(one.numel() for one in network.parameters()) + sum(codes)


def features(translation: Tensor, source: Tensor, reference: Tensor | None = None) -> Tensor:
    """Return the estimator's input from vectors (n, d): (n, 6 · d), without references (n, 4 · d)."""
    others = [source] if reference is None else [reference, source]
    pairs = ((translation * other, (translation - other).abs()) for other in others)
    return torch.cat((translation, others[0], *chain.from_iterable(pairs)), 1)


def nearness(from_source: Tensor, from_reference: Tensor) -> Tensor:
    """Return a ranking model's scores by a translation's distances: 1 / (1 + their harmonic mean)."""
    return 1 / (1 + 2 * from_source * from_reference / (from_source + from_reference))


class Stored(nn.Module):
    """Base of modules whose weight is stored as int8 codes and scales."""

    def __init__(self, shape: torch.Size, device: torch.device) -> None:
        super().__init__()
        self.register_buffer("codes", torch.empty(shape, dtype=torch.int8, device=device))
        self.register_buffer("scale", torch.empty(shape[0], device=device))

    @property
    def weight(self) -> Tensor:
        """Weight in float32, computed at each access."""
        return self.codes.float() / self.scale[:, None]

    def rows(self, indices: Tensor) -> Tensor:
        """Return rows (n, inputs) of the weight."""
        return self.codes[indices].float() / self.scale[indices, None]


class StoredLinear(Stored):
    """Linear map with a stored weight."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.weight.shape, linear.weight.device)
        self.out_features, self.in_features = linear.weight.shape
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Map x (…, inputs) → (…, outputs), with inputs that are not rounded."""
        return functional.linear(x, self.weight, self.bias)


class StoredEmbedding(Stored):
    """Embeddings of pieces with a stored weight."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__(embedding.weight.shape, embedding.weight.device)

    def forward(self, pieces: Tensor) -> Tensor:
        """Map pieces (…) → (…, d)."""
        return self.rows(pieces.flatten()).view(*pieces.shape, -1)


def stored_names(encoder: nn.Module) -> dict[str, type[Stored]]:
    """Return the names of an encoder's modules whose weights are stored: the layers' linear maps, and the pieces."""
    found: dict[str, type[Stored]] = {
        name: StoredLinear
        for name, module in encoder.named_modules()
        if name.startswith("encoder.layer.") and isinstance(module, nn.Linear)
    }
    return found | {"embeddings.word_embeddings": StoredEmbedding}


def hold_stored(encoder: nn.Module) -> None:
    """Replace modules of an encoder in place by stored ones, with arbitrary weights."""
    for name, kind in stored_names(encoder).items():
        encoder.set_submodule(name, kind(encoder.get_submodule(name)))


def is_stored(network: nn.Module) -> bool:
    """Return True if weights of the network are stored."""
    return any(isinstance(module, Stored) for module in network.modules())


def new_encoder(
    values: Mapping[str, Any],
    kind: type[PreTrainedModel],
    origin: str | Path,
    *,
    meta: bool = False,
) -> PreTrainedModel:
    """Make an encoder without pooler, with arbitrary weights, or with none on the device `meta`.

    Heads that its config.json names as pruned are cut.  Raises InputError if the values do not describe an encoder.
    """
    whole = {key: value for key, value in values.items() if key != PRUNED}
    try:
        with library_alone(), torch.device("meta" if meta else "cpu"), no_init_weights():
            encoder = kind(kind.config_class.from_dict(whole), add_pooling_layer=False)
            _cut_heads(encoder, values.get(PRUNED) or {})
            pad = encoder.config.pad_token_id
            # With a larger id, the longest text would need more positions.
            if kind in AFTER_PADDING and pad not in range(4):
                raise ValueError(f"pad_token_id {pad!r:.40}, expected 1")
    except Exception as error:  # the library checks few values; others fail later
        message = f"{origin}: the encoder's configuration is damaged ({first_line(error)}); make it or fetch it again"
        raise InputError(message) from error
    return encoder


def _cut_heads(encoder: nn.Module, pruned: Mapping[str, Any]) -> None:
    """Narrow the attention of layers by the heads that transformers 4 recorded as cut, by the layer's number."""
    for number, heads in pruned.items():
        attention = encoder.encoder.layer[int(number)].attention
        inside, output = attention.self, attention.output
        inside.num_attention_heads -= len({*heads})
        inside.all_head_size = width = inside.num_attention_heads * inside.attention_head_size
        for name in ("query", "key", "value"):
            setattr(inside, name, nn.Linear(encoder.config.hidden_size, width))
        output.dense = nn.Linear(width, encoder.config.hidden_size)
