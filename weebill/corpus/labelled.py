"""Evaluation of filters and scores on pairs with labels, good or bad."""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from weebill.corpus.cleaning.deduplicate import Buckets, digests
from weebill.corpus.cleaning.filters import FILTERS, clean_batch
from weebill.corpus.cleaning.pairs import Context, Pairs
from weebill.corpus.cleaning.preparation import Thresholds, prepare
from weebill.corpus.sampling import draw_rows
from weebill.corpus.scores.combination import cross_validated, features_of
from weebill.corpus.table import SCHEMA, read_batches, read_columns, write_table
from weebill.errors import InputError
from weebill.experiment.scores import SCORES
from weebill.text_files import read_lines
from weebill_runtime.normalisation import Punctuation

KEPT_GOOD = 0.7
DAMAGED_ROWS = 20_000

Column = pa.Array | pa.ChunkedArray


@dataclass(frozen=True)
class Labelled:
    """Pairs (rows,) and their labels `good`, (rows,) bool.

    damage: kind of injected damage of each pair, None for a good pair; None instead of the list if kinds are unknown.
    """

    sources: list[str]
    targets: list[str]
    good: np.ndarray
    damage: list[str | None] | None = None


@dataclass(frozen=True)
class FilterQuality:
    """Quality of a filter, of the chain of all filters, or of a score, on labelled pairs.

    dropped: number of dropped pairs; a score drops pairs below the limit that keeps KEPT_GOOD of the good pairs.
    precision, recall: of dropping pairs, seen as a search for bad pairs.
    kept_precision, kept_recall: of keeping pairs, seen as a search for good pairs.
    auc: probability that a good pair has a higher value than a bad one, ties counted half.
    auc_low, auc_high: 95 % interval of `auc`.
    found: dropped share of each kind of damage.
    """

    name: str
    auc: float
    dropped: int
    precision: float | None
    recall: float | None
    kept_precision: float | None
    kept_recall: float | None
    auc_low: float | None = None
    auc_high: float | None = None
    found: Mapping[str, float] = field(default_factory=dict)


def read_labelled(path: str | Path, columns: Mapping[str, int]) -> Labelled:
    """Read a table of tab-separated values with a header; the label is 1 for a good pair, 0 for a bad one.

    columns: numbers of `source`, `target` and `label`, from 0.
    Raises InputError if a line is malformed (the message names it), or if all labels are equal.
    """
    sources, targets, good = [], [], []
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) <= max(columns.values()):
            message = f"{path}:{number}: {len(cells)} columns, expected {max(columns.values()) + 1}"
            raise InputError(message)
        label = cells[columns["label"]].strip()  # lines may end in CRLF
        if number == 1:
            if label in ("0", "1"):
                raise InputError(
                    f"{path}:1: label '{label}', expected headings; put a line of them before the pairs"
                )
            continue
        if label not in ("0", "1"):
            raise InputError(f"{path}:{number}: label {label!r:.60}, expected 1 (good) or 0 (bad)")
        sources.append(cells[columns["source"]])
        targets.append(cells[columns["target"]])
        good.append(label == "1")
    if len(set(good)) < 2:
        raise InputError(f"{path}: {len(good)} pairs with one label; both are needed to measure")
    return Labelled(sources, targets, np.array(good))


def import_labelled(
    labelled: Labelled,
    languages: tuple[str, str],
    output: str | Path,
    rules: Thresholds = Thresholds(),
    punctuation: Punctuation | None = None,
) -> None:
    """Write the pairs, prepared as by cleaning, as a corpus for scoring, with a column `good`."""
    sides = (labelled.sources, labelled.targets)
    prepared = (
        prepare(side, one, rules, punctuation) for side, one in zip(sides, languages, strict=True)
    )
    _write(*map(pa.array, prepared), pa.array(labelled.good), pa.nulls(len(labelled.good)), output)


def import_damaged(
    corpora: Iterable[str | Path], output: str | Path, seed: int, rows: int = DAMAGED_ROWS
) -> None:
    """Write `rows` kept or dropped pairs of cleaned corpora with injected damage, in the format of `import_labelled`.

    Raises InputError if none of the pairs is damaged, or all are.
    """
    columns = ["source", "target", "noise"]
    batches = chain.from_iterable(read_batches(one, columns, kept=False) for one in corpora)
    drawn = draw_rows(map(pa.table, batches), rows, seed)
    good = drawn["noise"].is_null()
    if len(good.unique()) < 2:
        raise InputError(f"{output}: no damaged pair, or no other, to measure on; change `noise`")
    _write(drawn["source"], drawn["target"], good, drawn["noise"], output)


def _write(source: Column, target: Column, good: Column, noise: Column, output: str | Path) -> None:
    rows = len(good)
    columns = [source, target, ["labelled"] * rows, range(rows), pa.nulls(rows), good, noise]
    added = [pa.field("good", pa.bool_()), pa.field("noise", pa.string())]
    table = pa.table(columns, names=[*SCHEMA.names, "good", "noise"])
    write_table(output, table.cast(pa.schema([*SCHEMA, *added])))


def load_labelled(table: str | Path) -> Labelled:
    """Read a table that `import_labelled` or `import_damaged` wrote."""
    columns = read_columns(table, ["source", "target", "good", "noise"]).columns
    sources, targets, good, damage = (column.to_pylist() for column in columns)
    return Labelled(sources, targets, np.array(good), damage if any(damage) else None)


def measure(
    labelled: Labelled,
    languages: tuple[str, str],
    context: Context,
    scores: Mapping[str, np.ndarray],
    seed: int,
    resamples: int = 1000,
) -> list[FilterQuality]:
    """Measure each single filter, the chain of all filters, each score, and the scores' cross-validated combination.

    labelled: pairs as imported.  scores: values (rows,) by names in SCORES.  seed: of the folds and resampled rows.
    """
    good, sides = labelled.good, (labelled.sources, labelled.targets)
    damage = np.array(labelled.damage or [], object)
    pairs = Pairs(sides, languages, _repeats(sides))
    values = {name: (~drops(pairs, context)).astype(float) for name, drops in FILTERS.items()}
    values["all filters"] = (clean_batch(pairs, context) < 0).astype(float)
    dropped = {name: kept == 0 for name, kept in values.items()}
    for name, found in scores.items():
        values[name] = found if SCORES[name].higher_is_better else -found
    values["combined"] = cross_validated(features_of(scores, *sides, languages), good, seed)
    for name in (*scores, "combined"):
        limit = np.quantile(values[name][good], 1 - KEPT_GOOD, method="lower")
        dropped[name] = values[name] < limit
    draw = np.random.default_rng(seed)
    labels = (np.flatnonzero(good), np.flatnonzero(~good))  # each class keeps its number of rows
    samples = [[draw.choice(rows, len(rows)) for rows in labels] for _ in range(resamples)]
    kinds = sorted(set(labelled.damage or ()) - {None})
    qualities = []
    for name, drops in dropped.items():
        places = np.unique(values[name], return_inverse=True)[1]
        found = [_auc(places[chosen], places[others]) for chosen, others in samples]
        low, high = np.quantile(found, [0.025, 0.975]).tolist()
        qualities.append(
            FilterQuality(
                name,
                roc_auc(values[name], good),
                int(drops.sum()),
                precision=_share(drops & ~good, drops),
                recall=_share(drops & ~good, ~good),
                kept_precision=_share(~drops & good, ~drops),
                kept_recall=_share(~drops & good, good),
                auc_low=low,
                auc_high=high,
                found={kind: float(drops[damage == kind].mean()) for kind in kinds},
            )
        )
    return qualities


def _repeats(sides: tuple[list[str], ...]) -> np.ndarray:
    """Return the verdicts of deduplication, (rows,) uint8, in the same way as cleaning."""
    with tempfile.TemporaryDirectory() as folder:
        buckets = Buckets(Path(folder) / "buckets", len(sides[0]))
        records = digests(sides)
        records["row"] = np.arange(len(records))
        buckets.write("all", [records])
        buckets.find(Path(folder) / "repeats")
        return np.fromfile(Path(folder) / "repeats", np.uint8)


def _share(part: np.ndarray, whole: np.ndarray) -> float | None:
    return float(part.sum() / whole.sum()) if whole.any() else None


def roc_auc(values: np.ndarray, good: np.ndarray) -> float:
    """Compute the area under the ROC curve of values (rows,); good rows should be higher, ties count half."""
    places = np.unique(values, return_inverse=True)[1]
    return _auc(places[good], places[~good])


def _auc(good: np.ndarray, bad: np.ndarray) -> float:
    """Compute the area under the ROC curve (Mann and Whitney) from ranks, (good rows,) and (bad rows,)."""
    size = 1 + max(good.max(), bad.max())
    chosen, others = (np.bincount(one, minlength=size) for one in (good, bad))
    below = np.cumsum(others) - others / 2
    return float((chosen * below).sum() / (len(good) * len(bad)))
