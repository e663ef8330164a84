"""Human judgements of translations: tables of segments with the score that people gave each."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sacrebleu.metrics import CHRF
from sacrebleu.metrics.base import Metric

from weebill.bleu import bleu
from weebill.errors import InputError, nearest
from weebill.text_files import read_lines


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

    @property
    def targets(self) -> list[str]:
        """The language of each translation, as the pair tells it; empty where the table tells none."""
        return [pair.partition("-")[2] for pair in self.language_pairs]

    def where(self, kept: Callable[[str], bool], column: str = "systems") -> "Judgements":
        """Those whose system, or value of another column, is kept."""
        rows = [row for row, value in enumerate(getattr(self, column)) if kept(value)]
        return self._of_rows(rows, self.scores[rows])

    def averaged(self) -> "Judgements":
        """Every translation once, where it stands first, with the mean of its scores.

        Tables of raw assessments have a row for each assessor.  Segments of two texts may be alike in number and
        source, so that the translation's text belongs to it too.
        """
        numbers: dict[tuple, int] = {}
        translations = zip(self.groups, self.systems, self.hypotheses, strict=True)
        number = [numbers.setdefault(one, len(numbers)) for one in translations]
        if len(numbers) == len(self):
            return self  # the same to the bit, of which `JudgedSet.sha256` is made: a sum makes 0 of −0
        _, first = np.unique(number, return_index=True)
        means = np.bincount(number, self.scores) / np.bincount(number)
        return self._of_rows(first.tolist(), means)

    def _of_rows(self, rows: Sequence[int], scores: np.ndarray) -> "Judgements":
        lists = ([one[row] for row in rows] for one in list(vars(self).values())[:-1])
        return Judgements(*lists, scores)


def read_judgements(path: str | Path, score: str, *, by_system: bool = False) -> Judgements:
    """A table of tab-separated values with a line of headings.

    score: the column of the human score, such as mqm or da_raw; the others are seg_id, source, hypothesis, and
    where there are system, reference and lp.  by_system: whether there must be one of systems.  A byte-order mark
    and line ends of Windows are no part of a cell.  Raises InputError naming the column or line that is wrong.
    """
    lines = (line.removesuffix("\r") for line in read_lines(path))
    heading = next(lines, "").removeprefix("\ufeff").split("\t")
    if by_system and "system" not in heading:
        raise InputError(
            f"{path}: no column 'system', which tells people from systems; name it so, or set humans: true"
            f"{nearest('system', heading)}"
        )
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


# Translations by people: ref-A and ref-B of WMT21, refA of WMT22, Human-A.0 and Human-P.0 of WMT20, HUMAN of WMT19.
PERSON = re.compile(r"(ref|human)([-_.]?[a-z])?(\.\d+)?", re.IGNORECASE)


def is_machine(system: str) -> bool:
    """Whether a system took part in WMT's translation task: no human, no variant made for metrics."""
    return not (PERSON.fullmatch(system) or system.startswith("metricsystem"))


LEXICAL = ("BLEU", "chrF")


def lexical_signature(metric: str, targets: Sequence[str] = ("",)) -> str:
    """sacreBLEU's, of its sentence scores; several where BLEU's tokens differ by target language."""
    found = []
    for target in sorted(set(targets)):
        one = _lexical(metric, target)
        Metric.sentence_score(one, "", [""])  # how many references there are it learns by that
        found.append(one.get_signature().format())
    return " + ".join(dict.fromkeys(found))


def lexical_scores(
    metric: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    targets: Sequence[str] | None = None,
) -> np.ndarray:
    """sacreBLEU's sentence scores (n,) by its defaults, 0 to 100.  metric: BLEU or chrF.

    targets: the language of each, which BLEU's tokens depend on.  Raises InputError for another metric.
    """
    if metric not in LEXICAL:
        raise InputError(f"metric '{metric}', expected BLEU or chrF{nearest(metric, LEXICAL)}")
    if targets is None:
        targets = [""] * len(hypotheses)
    of = {target: _lexical(metric, target) for target in set(targets)}
    # BLEU's own method does the same, and advises effective_order at each sentence: short ones score higher
    # by it, and correlations are not the published ones.
    return np.array(
        [
            Metric.sentence_score(of[target], hypothesis, [reference]).score
            for hypothesis, reference, target in zip(hypotheses, references, targets, strict=True)
        ]
    )


def _lexical(metric: str, target: str) -> Metric:
    return bleu(target) if metric == "BLEU" else CHRF()
