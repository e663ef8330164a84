"""Smaller metrics: an encoder without its top layers, and with fewer neurons and heads below (COMETINHO §4).

The methods are those of `pruning.methods` that remove all parts at once, by the gradient of the loss on judged
segments, without training.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from weebill.errors import InputError
from weebill.files import content_hash
from weebill.hugging_face.families import prunable
from weebill.metric.folder import KIND, Metric, load_metric, save_metric
from weebill.metric.judgements import is_held_out, require_references
from weebill.metric.network import MetricNetwork, is_stored
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.metric.training_table import Normalise, judged_segments
from weebill.pruning.depth import cut_layers
from weebill.pruning.history import History
from weebill.pruning.method import AtOnce
from weebill.pruning.methods import pruning_method
from weebill.pruning.structure import LayerStack, Prunable
from weebill.replaceable import check_replaceable

BATCH = 16  # segments; a part's importance is the magnitude of a sum over the segments of a batch


@dataclass(frozen=True)
class MetricStudy:
    """Metric and segments with human scores, (src, mt, ref, score) each, for `pruning.criteria`."""

    metric: Metric
    segments: pd.DataFrame
    seed: int

    def gradients(self, model: Prunable) -> Iterator[None]:
        """Yield after the backward pass of the mean squared error of each batch; see `pruning.study.Study`."""
        network = self.metric.network
        embeddings = network.encoder.embeddings.requires_grad_(False)  # large, and never cut
        for found, wanted in self._estimates():
            network.zero_grad()
            functional.mse_loss(found, torch.tensor(wanted, dtype=found.dtype)).backward()
            yield
        network.zero_grad()
        embeddings.requires_grad_(True)

    @torch.inference_mode()
    def observe(self, model: Prunable) -> None:
        """Score the segments once."""
        for _ in self._estimates():
            pass

    def _estimates(self) -> Iterator[tuple[Tensor, np.ndarray]]:
        """Yield the metric's and the human scores of batches of segments of similar length."""
        plain = PlainScorer(self.metric)
        texts = self.metric.network.architecture.texts
        lengths = sum(self.segments[name].str.len().to_numpy() for name in texts)
        order = np.argsort(lengths, kind="stable")
        for start in range(0, len(order), BATCH):
            rows = self.segments.iloc[order[start : start + BATCH]]
            yield plain.estimates([rows[name].tolist() for name in texts]), rows["score"].to_numpy()


def make_pruned(output: str | Path, metric: str, *how: Any) -> None:
    """Write the folder of a metric that is cut as `prune_by_judgements` does; how: its further arguments.

    Raises its errors and those of `load_metric`.
    """
    check_replaceable(output, KIND)
    whole = load_metric(metric)
    made = {"kind": "pruned", "parent": whole.sha256}
    save_metric(output, whole, made | prune_by_judgements(whole, *how))


def prune_by_judgements(
    whole: Metric,
    recipe: Sequence[Mapping[str, Any]],
    judgements: Sequence[Mapping[str, str]],
    segments: int,
    seed: int,
    normalise: Normalise | None,
    validation_share: float,
) -> dict[str, Any]:
    """Cut a metric in place by judged segments, and return entries of its lineage.

    recipe: methods and their settings, applied in turn.  judgements: {table, score} of each table.  segments: number
    to draw from them, without the sources in the validation share.  normalise: the normalisation of the scores
    that the metric learnt; None if it is unknown: then a linear fit adapts the scores to the metric's.
    Raises the errors of `prune` and `judged_segments`, and InputError if no segment is left.
    """
    _check_whole(whole)
    tables = [(entry["table"], entry["score"]) for entry in judgements]
    judged = judged_segments(tables, normalise or "language-pair")
    if whole.network.architecture.needs_references:
        require_references(judged["ref"], whole.name)
    judged = judged[[not is_held_out(source, validation_share) for source in judged["src"]]]
    if judged.empty:
        raise InputError("pruning: no judged source is left; lower reference.validation_share")
    judged = judged.sample(min(segments, len(judged)), random_state=seed)
    if normalise is None:
        # The metric may have learnt scores of another scale; without a linear fit, this would dominate the loss.
        if len(judged) <= 2 or judged["score"].nunique() == 1:
            message = f"{len(judged)} judged segments, too few or all of one score, leave no loss to prune by"
            raise InputError(f"pruning: {message}; draw more segments")
        scorer, texts = Scorer(whole), whole.network.architecture.texts
        own = scorer.score(
            {"drawn translations": judged["mt"].tolist()},
            *(judged[name].tolist() if name in texts else None for name in ("src", "ref")),
            names=("drawn sources", "drawn references"),
        )["drawn translations"]
        line = np.polynomial.Polynomial.fit(judged["score"], own, 1)
        judged = judged.assign(score=line(judged["score"].to_numpy()))
    methods = [pruning_method(method) for method in recipe]
    history = prune(whole, methods, MetricStudy(whole, judged, seed))
    return {
        "recipe": [dict(method) for method in recipe],
        "judgements": [content_hash(table) for table, _ in tables],
        "segments": len(judged),
        "seed": seed,
        "heads": history.heads,
    }


def prune(metric: Metric, methods: Sequence[AtOnce], study: MetricStudy | None) -> History:
    """Cut a metric in place by one method after another; return the history of the last.

    study: None for methods that look at the weights only.

    Raises InputError if a method does not fit the metric, or would leave a layer without neurons or heads.
    """
    _check_whole(metric)
    model = PrunableMetric(metric.network)
    for method in methods:
        history = method.cut(study, model)
    for parts in (history.heads, history.neurons):
        for name, left in parts.items():
            if not left:
                raise InputError(f"pruning: nothing would be left of {name}; remove fewer")
    return history


def _check_whole(metric: Metric) -> None:
    if is_stored(metric.network):
        message = f"{metric.name}: its weights are int8; prune the float32 metric, then convert"
        raise InputError(message)
    if not all(one.isfinite().all() for one in metric.network.parameters()):
        message = f"{metric.name}: holds weights that are no numbers; the model has diverged, take another"
        raise InputError(message)


class PrunableMetric:
    """Encoder of a metric for pruning methods; the mix of layers is cut together with the layers."""

    def __init__(self, network: MetricNetwork):
        self.network, self._encoder = network, prunable(network.encoder)
        self.attention_blocks = self._encoder.attention_blocks
        self.feed_forward_blocks = self._encoder.feed_forward_blocks

    def layer_stacks(self) -> list[LayerStack]:
        """Return the stack of the encoder's layers."""
        stacks = self._encoder.layer_stacks()
        return [MetricLayers(**vars(stack), network=self.network) for stack in stacks]


@dataclass
class MetricLayers(LayerStack):
    """Layers of a metric's encoder; the mix renormalises the weights of the remaining layers."""

    network: MetricNetwork | None = None

    def keep(self, depth: int) -> None:
        """Keep only the first layers.  Raises InputError if the layer that the metric reads would be removed."""
        architecture, mix = self.network.architecture, self.network.mix
        labelled = None if architecture.joint is None else architecture.joint.word_layer
        for layer in (architecture.layer, labelled):
            if isinstance(layer, int) and layer > depth:
                raise InputError(f"pruning: the metric reads layer {layer}; {depth} would be left")
        super().keep(depth)
        if mix is not None:
            mix.weights = nn.Parameter(mix.weights.detach()[: depth + 1].clone())


def remove_top_layers(network: MetricNetwork, count: int) -> None:
    """Remove the `count` top layers of the encoder in place.  Raises InputError if one of them is needed."""
    cut_layers(PrunableMetric(network), "encoder", count)
