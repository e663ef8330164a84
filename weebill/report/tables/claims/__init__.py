"""Tables of the papers' claims: the claim, the effect measured in this experiment, and the verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf
from statistics import fmean

from weebill.report import papers
from weebill.report.results import Results
from weebill.report.table import Column, Row, Table, three_digits

ALONE = "(value alone)"  # mark of a verdict without bounds
ABSENT = "not measured"


@dataclass(frozen=True)
class Effect:
    """Measured effect of a step: its value and, if they are known, its bounds, in the unit of the claim."""

    of: str  # measured models
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""  # what a reader of the verdict must know about this effect

    @classmethod
    def exact(cls, of: str, value: float) -> "Effect":
        """Return an effect without a margin, such as a size."""
        return cls(of, value, value, value)

    @classmethod
    def of_rounds(
        cls, of: str, ratio: float, fast: Sequence[float], slow: Sequence[float]
    ) -> "Effect":
        """Return a speed-up.  fast, slow: seconds of each interleaved round of both."""
        ratios = [b / a for a, b in zip(fast, slow, strict=True)]
        return cls(of, ratio, min(ratios), max(ratios))

    @classmethod
    def mean(cls, of: str, effects: Sequence["Effect"], note: str = "") -> "Effect":
        """Return the mean of effects on different texts; errors of different texts are independent."""
        value, bounds = fmean(one.value for one in effects), (None, None)
        if all(None not in (one.low, one.high) for one in effects):
            below = hypot(*(one.value - one.low for one in effects)) / len(effects)
            above = hypot(*(one.high - one.value for one in effects)) / len(effects)
            bounds = (value - below, value + above)
        return cls(of, value, *bounds, note)

    def saved(self) -> "Effect":
        """Return the percent of time saved by an effect that is a speed-up."""
        ends = (100 * (1 - 1 / one) for one in (self.value, self.low, self.high))
        return Effect(self.of, *ends)

    def less(self, other: "Effect") -> "Effect":
        """Return the difference to an effect on other models; its margin of error is the sum of both margins."""
        bounds = (None, None)
        if None not in (self.low, self.high, other.low, other.high):
            bounds = (self.low - other.high, self.high - other.low)
        return Effect(f"{self.of}, {other.of}", self.value - other.value, *bounds)


Measure = Callable[[Results], Sequence[Effect]]


@dataclass(frozen=True)
class Claim:
    """Claim of a paper: it holds for effects from `least` to `most`.

    opposite: limit beyond which effects are the claim's opposite, not a weaker form of it; it is `least` or below, or
    `most` or above; None if there is none.
    """

    where: str  # section of the paper
    text: str
    effect: str  # name of the measure
    unit: str
    least: float
    most: float
    opposite: float | None
    note: str = ""  # what a reader must know of the paper's numbers and of our reading

    @classmethod
    def parse(cls, row: Mapping[str, str]) -> "Claim":
        """Parse a row of papers/claims.csv."""
        return cls(
            row["where"],
            row["claim"],
            row["effect"],
            row["unit"],
            float(row["least"] or -inf),
            float(row["most"] or inf),
            float(row["opposite"]) if row["opposite"] else None,
            row["note"],
        )

    @property
    def bounds(self) -> str:
        """Describe the effects that confirm the claim."""
        ends = (
            f"{sign} {end:g}"
            for sign, end in (("≥", self.least), ("≤", self.most))
            if abs(end) < inf
        )
        return f"{', '.join(ends)} {self.unit}".replace("-", "−")

    def verdict(self, effect: Effect) -> str:
        """Judge an effect by its bounds, or only by its value if it has no bounds, all as the table shows them."""
        known = effect.low is not None and effect.high is not None
        ends = (effect.low, effect.high) if known else (effect.value, effect.value)
        low, high = (float(three_digits(end)) for end in ends)
        if self.least <= low and high <= self.most:
            verdict = "reproduced"
        elif self.least <= high and low <= self.most:
            verdict = "undecided"
        elif self.opposite is None:
            verdict = "not reproduced"
        else:
            below = self.opposite <= self.least and high < self.opposite
            above = self.opposite >= self.most and low > self.opposite
            verdict = "opposite" if below or above else "not reproduced"
        return verdict if known else f"{verdict} {ALONE}"


def claims_of(paper: str) -> list[Claim]:
    """Return the claims of a paper, by its short name."""
    rows = papers.load("claims").to_dict("records")
    return [Claim.parse(row) for row in rows if row["paper"] == paper]


def claims_table(paper: str, measures: Mapping[str, Measure], results: Results) -> Table:
    """Return a row for each claim of a paper and each of its measured effects.

    measures: functions by the names in the column `effect` of papers/claims.csv.
    """
    rows = []
    for claim in claims_of(paper):
        said = [claim.where, claim.text, claim.bounds]
        effects = measures[claim.effect](results)
        for effect in effects:
            numbers = map(three_digits, (effect.value, effect.low, effect.high))
            notes = " ".join(one for one in (claim.note, effect.note) if one)
            rows.append(Row.of([*said, effect.of, *numbers, claim.verdict(effect), notes]))
        if not effects:
            rows.append(Row.of([*said, "", "", "", "", ABSENT, claim.note], kind="absent"))
    name = papers.PAPERS[paper].name
    return Table(
        f"claims_{paper}",
        f"{name}: claims",
        f"What {name} says, what this experiment measured of it, and whether that bears the claim out.",
        (
            *Column.texts(where="Where", claim="Claim", holds="Holds if", models="Measured on"),
            Column("value", "Measured"),
            *Column.grouped("Measured, 95 % or rounds", low="from", high="to"),
            *Column.texts(verdict="Verdict", why="What to know"),
        ),
        rows,
        (
            "A claim is reproduced if the whole interval bears it out, undecided if a part of it does, and not "
            "reproduced if none does; then it is the opposite if the effect points the other way. The interval of "
            f"a quality is its 95 % bootstrap interval, that of a speed the range of its rounds; {ALONE}: there is "
            "no interval. An effect of two numbers that were not compared sentence by sentence, such as a smaller "
            "student's loss against a larger one's, has the margins of both. "
            f"{ABSENT.capitalize()}: this experiment lacks the models, or the GPU.",
            "Models, texts and machines are others than the paper's: a verdict speaks of this experiment.",
        ),
    )
