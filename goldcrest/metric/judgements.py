"""Human judgements of translations: tables of segments with the score that people gave each."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric

from goldcrest.errors import InputError, nearest
from goldcrest.text_files import read_lines


@dataclass(frozen=True)
class Judgements:
    """Segments (n,), one of a system's translations each, and their scores (n,), higher is better.

    rows: of the table, from 0.  segments: the language pair and the segment's number.  references: empty where
    there is none.
    """

    rows: list[int]
    systems: list[str]
    segments: list[str]
    sources: list[str]
    references: list[str]
    hypotheses: list[str]
    scores: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Equal where translations are of the same segment.

        Tables of several texts count segments anew in each, so the source belongs to it.
        """
        return list(zip(self.segments, self.sources, strict=True))

    @property
    def language_pairs(self) -> list[str]:
        """Of each segment; empty where the table tells none."""
        return [segment.partition(" ")[0] for segment in self.segments]

    def where(self, kept: Callable[[str], bool], column: str = "systems") -> "Judgements":
        """Those whose system, or value of another column, is kept."""
        rows = [row for row, value in enumerate(getattr(self, column)) if kept(value)]
        lists = ([one[row] for row in rows] for one in list(vars(self).values())[:-1])
        return Judgements(*lists, self.scores[rows])


def read_judgements(path: str | Path, score: str) -> Judgements:
    """A table of tab-separated values with a line of headings.

    score: the column of the human score, such as mqm or da_raw; the others are system, seg_id, source, hypothesis,
    and where there are reference and lp.  Raises InputError naming the column or line that is wrong.
    """
    lines = read_lines(path)
    heading = next(lines, "").split("\t")
    for name in (score, "source", "hypothesis", "seg_id"):
        if name not in heading:
            raise InputError(f"{path}: no column '{name}'{nearest(name, heading)}")
    rows = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(heading):
            raise InputError(f"{path}:{number}: {len(cells)} columns, expected {len(heading)}")
        row = dict(zip(heading, cells, strict=True))
        try:
            row["score"] = finite_number(row[score])
        except ValueError as error:
            raise InputError(f"{path}:{number}: {score} is {row[score]!r}, no number") from error
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: no judgements; give one a line, below the headings")

    def column(name: str) -> list[str]:
        return [row.get(name, "") for row in rows]

    return Judgements(
        list(range(len(rows))),
        column("system"),
        [f"{row.get('lp', '')} {row['seg_id']}" for row in rows],
        column("source"),
        column("reference"),
        column("hypothesis"),
        np.array([row["score"] for row in rows]),
    )


def finite_number(text: str) -> float:
    """A score as it is written.  Raises ValueError where it is no number, or none that counts, such as nan."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def require_references(references: Sequence[str], reader: str) -> None:
    """Raise InputError where there are none, for a metric that compares with them."""
    if not any(reference.strip() for reference in references):
        raise InputError(
            f"{reader}: compares with references, and the table has none; leave it out, or give the table a "
            "column reference"
        )


def is_machine(system: str) -> bool:
    """Whether a system of WMT 2021 took part in the translation task: no human, no variant made for metrics."""
    return not system.startswith(("ref-", "metricsystem"))


LEXICAL = {"BLEU": BLEU, "chrF": CHRF}


def lexical_signature(metric: str) -> str:
    """sacreBLEU's, of its sentence scores."""
    one = LEXICAL[metric]()
    Metric.sentence_score(one, "", [""])  # how many references there are it learns by that
    return one.get_signature().format()


def lexical_scores(metric: str, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """sacreBLEU's sentence scores (n,) by its defaults, 0 to 100.  metric: BLEU or chrF.

    Raises InputError for another metric.
    """
    if metric not in LEXICAL:
        raise InputError(f"metric '{metric}', expected BLEU or chrF{nearest(metric, LEXICAL)}")
    one = LEXICAL[metric]()
    # BLEU's own method does the same, and advises effective_order at each sentence: short ones score higher
    # by it, and correlations are not the published ones.
    return np.array(
        [
            Metric.sentence_score(one, hypothesis, [reference]).score
            for hypothesis, reference in zip(hypotheses, references, strict=True)
        ]
    )
