"""Human judgements of translations: tables of segments with human scores."""

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
    """Segments (n,), each one translation of one system, and their scores (n,); higher is better.

    rows: row numbers in the table, from 0.  segments: language pair and number of the segment.  references: empty
    strings if there are none.
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
        """Groups of translations of the same segment.

        Tables of several texts number segments anew in each, so the source is part of the key.
        """
        return list(zip(self.segments, self.sources, strict=True))

    @property
    def language_pairs(self) -> list[str]:
        """Language pair of each segment; empty if unknown."""
        return [segment.partition(" ")[0] for segment in self.segments]

    @property
    def targets(self) -> list[str]:
        """Language of each translation, from the pair; empty if unknown."""
        return [pair.partition("-")[2] for pair in self.language_pairs]

    def where(self, kept: Callable[[str], bool], column: str = "systems") -> "Judgements":
        """Return the judgements whose system, or value of another column, is kept."""
        rows = [row for row, value in enumerate(getattr(self, column)) if kept(value)]
        return self._of_rows(rows, self.scores[rows])

    def averaged(self) -> "Judgements":
        """Return every translation once, at its first place, with the mean of its scores.

        Tables of raw assessments have a row for each assessor.  Segments of two texts may have the same number and
        source, so the translation's text is part of the key.
        """
        numbers: dict[tuple, int] = {}
        translations = zip(self.groups, self.systems, self.hypotheses, strict=True)
        number = [numbers.setdefault(one, len(numbers)) for one in translations]
        if len(numbers) == len(self):
            return (
                self  # keep the bits, which `JudgedSet.sha256` hashes: a sum would turn −0 into 0
            )
        _, first = np.unique(number, return_index=True)
        means = np.bincount(number, self.scores) / np.bincount(number)
        return self._of_rows(first.tolist(), means)

    def _of_rows(self, rows: Sequence[int], scores: np.ndarray) -> "Judgements":
        lists = ([one[row] for row in rows] for one in list(vars(self).values())[:-1])
        return Judgements(*lists, scores)


def read_judgements(path: str | Path, score: str, *, by_system: bool = False) -> Judgements:
    """Read a table of tab-separated values with a line of headings.

    score: the column of the human score, such as mqm or da_raw.  Other columns: seg_id, source, hypothesis, and
    optionally system, reference and lp.  by_system: require the column system.  A byte-order mark and line ends of
    Windows are no part of a cell.  Raises InputError naming the faulty column or line.
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
    """Read a score.  Raises ValueError if it is not a finite number."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def require_references(references: Sequence[str], reader: str) -> None:
    """Raise InputError if references are missing, for a metric that compares with them."""
    if not any(reference.strip() for reference in references):
        raise InputError(
            f"{reader}: compares with references, and the table has none; leave it out, or give the table a "
            "column reference"
        )


# Human translations: ref-A and ref-B of WMT21, refA of WMT22, Human-A.0 and Human-P.0 of WMT20, HUMAN of WMT19.
PERSON = re.compile(r"(ref|human)([-_.]?[a-z])?(\.\d+)?", re.IGNORECASE)


def is_machine(system: str) -> bool:
    """Return True if a system took part in WMT's translation task: no human, no variant made for metrics."""
    return not (PERSON.fullmatch(system) or system.startswith("metricsystem"))


LEXICAL = ("BLEU", "chrF")


def lexical_signature(metric: str, targets: Sequence[str] = ("",)) -> str:
    """Return sacreBLEU's signature of sentence scores; several if BLEU's tokens differ by target language."""
    found = []
    for target in sorted(set(targets)):
        one = _lexical(metric, target)
        Metric.sentence_score(one, "", [""])  # sets the number of references in the signature
        found.append(one.get_signature().format())
    return " + ".join(dict.fromkeys(found))


def lexical_scores(
    metric: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    targets: Sequence[str] | None = None,
) -> np.ndarray:
    """Return sacreBLEU's sentence scores (n,) by its defaults, 0 to 100.  metric: BLEU or chrF.

    targets: the language of each, for BLEU's tokens.  Raises InputError for another metric.
    """
    if metric not in LEXICAL:
        raise InputError(f"metric '{metric}', expected BLEU or chrF{nearest(metric, LEXICAL)}")
    if targets is None:
        targets = [""] * len(hypotheses)
    of = {target: _lexical(metric, target) for target in set(targets)}
    # BLEU's own method does the same, and recommends effective_order at each sentence; with it, short ones
    # score higher, and correlations are not the published ones.
    return np.array(
        [
            Metric.sentence_score(of[target], hypothesis, [reference]).score
            for hypothesis, reference, target in zip(hypotheses, references, targets, strict=True)
        ]
    )


def _lexical(metric: str, target: str) -> Metric:
    return bleu(target) if metric == "BLEU" else CHRF()
