"""Judged test sets: agreement of any metric's scores with people, with interval and significance, as in WMT's tasks.

`mqm`: Kendall's τ-b over all segments of all systems.  `darr`: agreement on the better of two translations of a
source, for pairs whose human scores (direct assessments) differ by 25 points or more.  COMETINHO §6.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from weebill.errors import InputError
from weebill.files import sha256_text
from weebill.metric.judgements import averaged, is_held_out, is_machine, read_judgements

STATISTICS = {"mqm": "Kendall's τ-b", "darr": "τ-like, DARR"}
LEAST_DIFFERENCE = 25.0  # points of direct assessment, which run from 0 to 100
ROUNDING = 1e-12  # rounding error of differences, of agreements or of human scores
Statistic = Callable[[np.ndarray], float]


def kendall_tau_b(scores: np.ndarray, human: np.ndarray) -> float:
    """Return τ-b = (C − D) / √((P − T_scores) (P − T_human)), T ties of P pairs; NaN if all on a side are equal."""
    return float(kendalltau(scores, human, variant="b").statistic)


class RelativeRanks:
    """Pairs of translations with clearly different human scores: rows of the better and the worse one (pairs,)."""

    def __init__(self, human: Sequence[float], segments: Sequence[Hashable]) -> None:
        """Pair direct assessments (n,); segments: keys, equal for translations of one source."""
        pairs = [
            (i, j) if human[i] > human[j] else (j, i)
            for group in _grouped(segments)
            for i, j in combinations(group, 2)
            if abs(human[i] - human[j]) >= LEAST_DIFFERENCE - ROUNDING
        ]
        self.better, self.worse = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    def tau(self, scores: np.ndarray) -> float:
        """Return (C − D) / (C + D) of a metric's scores (n,); a tied pair counts as D.  NaN if there is no pair."""
        if not len(self.better):
            return float("nan")
        return float(2 * (scores[self.better] > scores[self.worse]).mean() - 1)


def permutation_p_value(
    statistic: Statistic,
    scores: np.ndarray,
    other: np.ndarray,
    permutations: int = 1000,
    seed: int = 1,
) -> float:
    """Return the two-sided p-value of the difference between two metrics' agreement with people.

    statistic: agreement of scores (n,) with people.  Under the null hypothesis it does not matter which metric gave a
    score: both are standardised, which makes the test slightly conservative, and exchanged segment by segment at
    random.  Permutations whose agreement is NaN are left out; NaN if a metric's is, or those of all permutations.
    Source: PERM-BOTH of Deutsch et al. 2021, which WMT's metrics tasks use.
    """
    ours, theirs = ((one - one.mean()) / (one.std() or 1.0) for one in (scores, other))
    observed = abs(statistic(ours) - statistic(theirs)) - ROUNDING
    if np.isnan(observed):
        return float("nan")
    draw = np.random.default_rng(seed)
    found = np.empty(permutations)
    for number in range(permutations):
        swapped = draw.random(len(ours)) < 0.5
        first, second = np.where(swapped, theirs, ours), np.where(swapped, ours, theirs)
        found[number] = abs(statistic(first) - statistic(second))
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan")
    return float(((found >= observed).sum() + 1) / (len(found) + 1))


def bootstrap_interval(
    statistic: Statistic, segments: Sequence[Hashable], resamples: int = 1000, seed: int = 1
) -> tuple[float, float]:
    """Return the 95 % interval of an agreement over resamples of the sources, each with all its translations.

    statistic: agreement on the rows (m,) of a resample, which may repeat.  Resamples whose agreement is NaN are left
    out; NaN if all are.
    """
    groups = [np.array(rows) for rows in _grouped(segments)]
    draw = np.random.default_rng(seed)
    found = np.empty(resamples)
    for number in range(resamples):
        drawn = draw.integers(len(groups), size=len(groups))
        found[number] = statistic(np.concatenate([groups[i] for i in drawn]))
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _difference(one: Statistic, other: Statistic) -> Statistic:
    return lambda rows: one(rows) - other(rows)


def _grouped(keys: Sequence[Hashable]) -> list[list[int]]:
    """Return the rows of each different key."""
    rows = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    return list(rows.values())


@dataclass(frozen=True)
class JudgedSet:
    """Judgements and their statistic of agreement, mqm or darr; table_rows: number of rows in their table."""

    name: str
    judgements: pd.DataFrame
    statistic: str
    table_rows: int

    @classmethod
    def read(cls, name: str, entry: Mapping[str, Any]) -> "JudgedSet":
        """Read a table as `entry` describes it: table, score, statistic, humans, held_out.

        humans: keep translations by people, and those made to mislead metrics.  held_out: keep only the sources
        in validation's share.  Several judgements of a translation are averaged, as in WMT.  Raises InputError if
        nothing is left, no two translations differ enough, or the table does not name the systems to keep.
        """
        judgements = read_judgements(entry["table"], entry["score"], by_system=not entry["humans"])
        table_rows = len(judgements)
        if not entry["humans"]:
            judgements = judgements[judgements["system"].map(is_machine)]
        if not len(judgements):
            raise InputError(f"{entry['table']}: no system's translation; set humans: true")
        if share := entry.get("held_out"):
            judgements = judgements[judgements["src"].map(lambda one: is_held_out(one, share))]
        if not len(judgements):
            raise InputError(f"{entry['table']}: no source is held out; raise held_out")
        found = cls(name, averaged(judgements), entry["statistic"], table_rows)
        if found.statistic == "darr" and not len(found.pairs.better):
            raise InputError(
                f"{entry['table']}: no two translations of a source whose {entry['score']} differs by 25 points; "
                "direct assessments are of 0 to 100, or use statistic: mqm"
            )
        return found

    @property
    def human(self) -> np.ndarray:
        """Human scores (n,)."""
        return self.judgements["score"].to_numpy()

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Keys of the segments with their sources, because tables of several texts number segments anew in each."""
        return list(zip(self.judgements["segment"], self.judgements["src"], strict=True))

    @cached_property
    def pairs(self) -> RelativeRanks:
        """Pairs of the statistic `darr`."""
        return RelativeRanks(self.human.tolist(), self.groups)

    @cached_property
    def sha256(self) -> str:
        """Hash over all lines "system, segment, source, reference, hypothesis, score", which decide agreement."""
        rows = zip(*(column.to_numpy() for _, column in self.judgements.items()), strict=True)
        return sha256_text("".join("\t".join(map(str, row)) + "\n" for row in rows))

    def tau(self, scores: np.ndarray) -> float:
        """Return the agreement of a metric's scores (n,); NaN if they, or the human scores, are all equal."""
        if self.statistic == "darr":
            return self.pairs.tau(scores)
        return kendall_tau_b(scores, self.human)

    def interval(
        self, scores: np.ndarray, resamples: int, seed: int, other: np.ndarray | None = None
    ) -> tuple[float, float]:
        """Return the 95 % bootstrap interval of an agreement, over sources; NaN if no resample has one.

        other: scores (n,) of another metric; the interval is then that of the difference, ours minus the other's.
        """
        statistic = self._of_rows(scores)
        if other is not None:
            statistic = _difference(statistic, self._of_rows(other))
        groups = self.groups
        if self.statistic == "darr":
            groups = [groups[row] for row in self.pairs.better]
        return bootstrap_interval(statistic, groups, resamples, seed)

    def _of_rows(self, scores: np.ndarray) -> Statistic:
        """Return the agreement of scores as a function of rows: of pairs for darr, else of segments."""
        if self.statistic == "darr":
            agrees = scores[self.pairs.better] > scores[self.pairs.worse]
            return lambda rows: float(2 * agrees[rows].mean() - 1)
        human = self.human
        return lambda rows: kendall_tau_b(scores[rows], human[rows])

    def p_value(self, scores: np.ndarray, other: np.ndarray, permutations: int, seed: int) -> float:
        """Return the p-value of two metrics' difference in agreement, by permutation; NaN if there is none."""
        return permutation_p_value(self.tau, scores, other, permutations, seed)


@dataclass(frozen=True)
class MetricScores:
    """Scores of a metric for each segment of a judged set (n,), and its signature."""

    metric: str
    signature: str
    scores: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**vars(self), "scores": self.scores.tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "MetricScores":
        """Make the scores from the result of `to_dict`."""
        return cls(values["metric"], values["signature"], np.array(values["scores"]))
