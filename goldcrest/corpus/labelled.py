"""Filters and scores measured on pairs that people have labelled good or bad."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from goldcrest.corpus.cleaning.deduplicate import Buckets, digests
from goldcrest.corpus.cleaning.filters import FILTERS, clean_batch
from goldcrest.corpus.cleaning.normalise import normalise
from goldcrest.corpus.cleaning.pairs import Context, Pairs
from goldcrest.corpus.scores.registry import SCORES
from goldcrest.corpus.scores.scoring import Scorer
from goldcrest.errors import InputError
from goldcrest.text_files import read_lines


@dataclass(frozen=True)
class Labelled:
    """Pairs (rows,) and which of them are good, (rows,) bool."""

    sources: list[str]
    targets: list[str]
    good: np.ndarray


@dataclass(frozen=True)
class FilterQuality:
    """What a filter, the chain of all, or a score makes of labelled pairs.

    dropped: pairs.  precision, recall: of bad pairs among those dropped.  kept_precision, kept_recall: of good
    pairs among those kept.  auc: chance that a good pair stands above a bad one, ties counted half.
    A score drops nothing by itself.
    """

    name: str
    auc: float
    dropped: int | None = None
    precision: float | None = None
    recall: float | None = None
    kept_precision: float | None = None
    kept_recall: float | None = None


def read_labelled(path: str | Path, columns: Mapping[str, int]) -> Labelled:
    """A table of tab-separated values with a line of headings; its label is 1 for a good pair, 0 for a bad one.

    columns: of source, target and label, counted from 0.  Raises InputError naming the line that is not so, or
    where all labels are equal.
    """
    sources, targets, good = [], [], []
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) <= max(columns.values()):
            raise InputError(
                f"{path}:{number}: {len(cells)} columns, expected {max(columns.values()) + 1}"
            )
        label = cells[columns["label"]]
        if number == 1:
            continue
        if label not in ("0", "1"):
            raise InputError(f"{path}:{number}: label '{label}', expected 1 (good) or 0 (bad)")
        sources.append(cells[columns["source"]])
        targets.append(cells[columns["target"]])
        good.append(label == "1")
    if len(set(good)) < 2:
        raise InputError(f"{path}: {len(good)} pairs with one label; both are needed to measure")
    return Labelled(sources, targets, np.array(good))


def measure(
    labelled: Labelled,
    languages: tuple[str, str],
    context: Context,
    scorers: Mapping[str, Scorer],
) -> list[FilterQuality]:
    """Every filter alone, then their chain, then every score (by its name in SCORES) of the normalised pairs."""
    sides = tuple(
        normalise(texts, language)
        for texts, language in zip((labelled.sources, labelled.targets), languages, strict=True)
    )
    pairs = Pairs.measured(sides, languages, _repeats(sides))
    rows = [
        _of_filter(name, drops(pairs, context), labelled.good) for name, drops in FILTERS.items()
    ]
    rows.append(_of_filter("all filters", clean_batch(pairs, context) >= 0, labelled.good))
    texts = dict(zip(("source", "target"), sides, strict=True))
    for name, scorer in scorers.items():
        score = SCORES[name]
        values = scorer(*(texts[side] for side in score.sides))
        sign = 1 if score.higher_is_better else -1
        rows.append(FilterQuality(name, roc_auc(sign * values, labelled.good)))
    return rows


def _repeats(sides: tuple[list[str], ...]) -> np.ndarray:
    """(rows,) uint8: which pairs stood earlier, as the cleaning of a corpus finds them."""
    with tempfile.TemporaryDirectory() as folder:
        buckets = Buckets(Path(folder) / "buckets", len(sides[0]))
        records = digests(sides)
        records["row"] = np.arange(len(records))
        buckets.write("all", [records])
        buckets.find(Path(folder) / "repeats")
        return np.fromfile(Path(folder) / "repeats", np.uint8)


def _of_filter(name: str, dropped: np.ndarray, good: np.ndarray) -> FilterQuality:
    return FilterQuality(
        name,
        roc_auc(~dropped, good),
        int(dropped.sum()),
        precision=_share(dropped & ~good, dropped),
        recall=_share(dropped & ~good, ~good),
        kept_precision=_share(~dropped & good, ~dropped),
        kept_recall=_share(~dropped & good, good),
    )


def _share(part: np.ndarray, whole: np.ndarray) -> float | None:
    return float(part.sum() / whole.sum()) if whole.any() else None


def roc_auc(values: np.ndarray, good: np.ndarray) -> float:
    """Area under the ROC curve of values (rows,), higher for better, by their ranks (Mann and Whitney)."""
    ranks = rankdata(values)
    positives = int(good.sum())
    excess = ranks[good].sum() - positives * (positives + 1) / 2
    return float(excess / (positives * (len(good) - positives)))
