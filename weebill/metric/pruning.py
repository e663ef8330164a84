"""Smaller metrics: without an encoder's top layers, and with fewer neurons and heads in those below (COMETINHO §4).

Which neurons and heads go is told by the gradient of the metric's loss on judged segments; nothing is trained.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional

from weebill.errors import InputError
from weebill.files import content_hash
from weebill.hugging_face.families import prunable
from weebill.metric.folder import KIND, Metric, load_metric, save_metric
from weebill.metric.held_out import is_held_out
from weebill.metric.judgements import require_references
from weebill.metric.network import MetricNetwork
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.metric.training_table import Normalise, judged_segments
from weebill.pruning.criteria import Candidates, gradient
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers
from weebill.pruning.history import History
from weebill.pruning.ranking import BlockScores, Scores, lowest
from weebill.pruning.structure import Prunable
from weebill.replaceable import check_replaceable

BATCH = 16  # segments, over whose gradients a part's importance is summed before its sign is lost


@dataclass(frozen=True)
class Kept:
    """What a pruned metric keeps; top_layers: how many go.

    feed_forward, heads: of each layer's neurons and heads a share up to 1, rounded, one at least; or, above 1, a
    number.  The paper's PRUNE-COMET of 24 layers: 6, 0.75 or 3072, 0.875 or 14.
    """

    top_layers: int = 0
    feed_forward: float = 1.0
    heads: float = 1.0


@dataclass(frozen=True)
class MetricStudy:
    """A metric and segments that people judged, (src, mt, ref, score) each, as `pruning.criteria` see them."""

    metric: Metric
    segments: pd.DataFrame
    seed: int

    def gradients(self, model: Prunable) -> Iterator[None]:
        """Of the mean squared error, in batches of segments of like length, as `pruning.study.Study` says."""
        network, plain = self.metric.network, PlainScorer(self.metric)
        texts = ["mt", "src", "ref"] if network.architecture.needs_references else ["mt", "src"]
        lengths = sum(self.segments[name].str.len().to_numpy() for name in texts)
        order = np.argsort(lengths, kind="stable")
        embeddings = network.encoder.embeddings.requires_grad_(False)  # most of a model, never cut
        for start in range(0, len(order), BATCH):
            rows = self.segments.iloc[order[start : start + BATCH]]
            network.zero_grad()
            found = plain.estimates([rows[name].tolist() for name in texts])
            wanted = torch.tensor(rows["score"].to_numpy(), dtype=found.dtype)
            functional.mse_loss(found, wanted).backward()
            yield
        network.zero_grad()
        embeddings.requires_grad_(True)


def make_pruned(
    output: str | Path,
    metric: str,
    kept: Kept,
    judgements: Sequence[Mapping[str, str]],
    segments: int,
    seed: int,
    normalise: Normalise | None,
    validation_share: float,
) -> None:
    """Write the folder of a metric cut by judged segments.

    judgements: tables and the columns of their scores, {table, score}.  segments: how many are drawn of them, but
    of no source that validates where this is the validation's share.  normalise: scores as those that the metric
    learnt; None, where that is not known: brought to the metric's own by a linear fit.
    Raises InputError as `prune`, `load_metric` and `judged_segments`, and where no segment is left.
    """
    check_replaceable(output, KIND)
    whole = load_metric(metric)
    tables = [(entry["table"], entry["score"]) for entry in judgements]
    judged = judged_segments(tables, normalise or "language-pair")
    if whole.network.architecture.needs_references:
        require_references(judged["ref"], metric)
    seen = [not is_held_out(source, validation_share) for source in judged["src"]]
    judged = judged[seen]
    if judged.empty:
        raise InputError("pruning: no judged source is left; lower reference.validation_share")
    judged = judged.sample(min(segments, len(judged)), random_state=seed)
    if normalise is None:
        judged = fitted(judged, whole)
    parent = whole.sha256
    history = prune(whole, kept, MetricStudy(whole, judged, seed))
    made = {
        "kind": "pruned",
        "parent": parent,
        "kept": asdict(kept),
        "judgements": [content_hash(table) for table, _ in tables],
        "segments": len(judged),
        "seed": seed,
        "heads": history.heads,
    }
    save_metric(output, whole, made)


def fitted(judged: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Judged segments (src, mt, ref, score) whose scores are brought near the metric's by the line that fits best.

    A checkpoint may have learnt scores of another scale, and the loss beside those at hand would tell no more
    than that.
    """
    scorer = Scorer(metric)
    references = judged["ref"].tolist() if scorer.needs_references else None
    own = scorer.score({"mt": judged["mt"].tolist()}, judged["src"].tolist(), references)["mt"]
    line = np.polynomial.Polynomial.fit(judged["score"], own, 1)
    return judged.assign(score=line(judged["score"].to_numpy()))


def prune(metric: Metric, kept: Kept, study: MetricStudy) -> History:
    """Cut a metric in place: top layers first, then neurons and heads by the gradients of what is left.

    Raises InputError where a layer has fewer neurons or heads than are kept, and as `remove_top_layers`.
    """
    remove_top_layers(metric.network, kept.top_layers)
    model = prunable(metric.network.encoder)
    history = History(model, asdict(kept))
    counts = {
        "heads": {block.name: block.heads for block in model.attention_blocks()},
        "neurons": {block.name: block.neurons for block in model.feed_forward_blocks()},
    }
    surplus = {
        "heads": _surplus(counts["heads"], kept.heads, "heads"),
        "neurons": _surplus(counts["neurons"], kept.feed_forward, "neurons"),
    }
    candidates = Candidates.named(
        model,
        "*",
        heads=any(surplus["heads"].values()),
        neurons=any(surplus["neurons"].values()),
    )
    if candidates.attention or candidates.feed_forward:
        scores = gradient(study, model, candidates)
        heads = _lowest_of_each(scores.heads, surplus["heads"])
        neurons = _lowest_of_each(scores.neurons, surplus["neurons"])
        history.remove(heads, neurons, Scores(scores.heads))
        cut(model, heads, neurons)
    return history


def _surplus(counts: Mapping[str, int], kept: float, what: str) -> dict[str, int]:
    """How many of each block's heads or neurons go."""
    for name, count in counts.items():
        if kept > count:
            raise InputError(f"pruning: {name} has {count} {what}, fewer than {kept}; keep fewer")
    return {
        name: count - (max(1, round(kept * count)) if kept <= 1 else int(kept))
        for name, count in counts.items()
    }


def _lowest_of_each(scores: BlockScores, surplus: Mapping[str, int]) -> dict[str, list[int]]:
    return {
        name: sorted(number for _, number in lowest({name: values}, surplus[name]))
        for name, values in scores.items()
    }


def remove_top_layers(network: MetricNetwork, count: int) -> None:
    """Remove the `count` top layers of the encoder in place; the mix's transformation shares out what is left.

    Raises InputError where no layer would be left, or not the one that the metric reads.
    """
    states = network.encoder.config.num_hidden_layers + 1 - count
    layer = network.architecture.layer
    if layer != "mix" and layer >= states:
        raise InputError(f"pruning: the metric reads layer {layer}; {states - 1} would be left")
    cut_layers(prunable(network.encoder), "encoder", count)
    if network.mix is not None:
        network.mix.weights = nn.Parameter(network.mix.weights.detach()[:states].clone())
