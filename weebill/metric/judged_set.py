"""Judged test sets: agreement of any metric's scores with people, with interval and significance.

`mqm`: Kendall's τ-b over all segments of all systems.  `darr`: the τ-like statistic over pairs of translations with
clearly different human scores (COMETINHO §6; `correlation` has the formulas).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weebill.errors import InputError
from weebill.files import sha256_text
from weebill.metric.correlation import (
    RelativeRanks,
    bootstrap_interval,
    kendall_tau_b,
    permutation_p_value,
)
from weebill.metric.held_out import is_held_out
from weebill.metric.judgements import Judgements, is_machine, read_judgements

STATISTICS = {"mqm": "Kendall's τ-b", "darr": "τ-like, DARR"}


@dataclass(frozen=True)
class JudgedSet:
    """Judgements and their statistic of agreement, mqm or darr; table_rows: number of rows in their table."""

    name: str
    judgements: Judgements
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
            judgements = judgements.where(is_machine)
        if not len(judgements):
            raise InputError(f"{entry['table']}: no system's translation; set humans: true")
        if share := entry.get("held_out"):
            judgements = judgements.where(lambda source: is_held_out(source, share), "sources")
        if not len(judgements):
            raise InputError(f"{entry['table']}: no source is held out; raise held_out")
        found = cls(name, judgements.averaged(), entry["statistic"], table_rows)
        if found.statistic == "darr" and not len(found.pairs.better):
            raise InputError(
                f"{entry['table']}: no two translations of a source whose {entry['score']} differs by 25 points; "
                "direct assessments are of 0 to 100, or use statistic: mqm"
            )
        return found

    @cached_property
    def pairs(self) -> RelativeRanks:
        """Pairs of the statistic `darr`."""
        return RelativeRanks.of(self.judgements.scores.tolist(), self.judgements.groups)

    @cached_property
    def sha256(self) -> str:
        """Hash over all lines "system, segment, source, reference, hypothesis, score", which agreement depends on."""
        columns = vars(self.judgements)
        names = ("systems", "segments", "sources", "references", "hypotheses", "scores")
        rows = zip(*(columns[name] for name in names), strict=True)
        return sha256_text("".join("\t".join(map(str, row)) + "\n" for row in rows))

    def tau(self, scores: np.ndarray) -> float:
        """Return the agreement of a metric's scores (n,); NaN if they, or the human scores, are all equal."""
        if self.statistic == "darr":
            return self.pairs.tau(scores)
        return kendall_tau_b(scores, self.judgements.scores)

    def interval(self, scores: np.ndarray, resamples: int, seed: int) -> tuple[float, float]:
        """Return its 95 % bootstrap interval, over sources; NaN if no resample has an agreement."""
        human, groups = self.judgements.scores, self.judgements.groups
        if self.statistic == "mqm":

            def tau(rows: np.ndarray) -> float:
                return kendall_tau_b(scores[rows], human[rows])

            return bootstrap_interval(tau, groups, resamples, seed)
        agrees = scores[self.pairs.better] > scores[self.pairs.worse]
        sources = [groups[row] for row in self.pairs.better]
        return bootstrap_interval(
            lambda rows: float(2 * agrees[rows].mean() - 1), sources, resamples, seed
        )

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
