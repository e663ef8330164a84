"""One module a benchmark, found by its name.

Each has `run(rounds) -> list[Row]`; one with options of its own has `add_arguments(parser)`, and they are
further arguments of its `run`.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One claim: medians over rounds of ours and the opponent's, in `unit`; ratio = ours / other.

    lowest, highest: the ratio of a single round.  paper: the same ratio as a paper's table gives it.
    """

    claim: str
    ours: float
    other: float
    unit: str
    rounds: int
    lowest: float
    highest: float
    paper: float | None = None
    ratio: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", self.ours / self.other)

    @classmethod
    def of_rounds(
        cls,
        claim: str,
        ours: Sequence[float],
        other: Sequence[float],
        unit: str,
        paper: float | None = None,
    ) -> "Row":
        """From what each round measured, in the same order on both sides."""
        ratios = [one / two for one, two in zip(ours, other, strict=True)]
        medians = statistics.median(ours), statistics.median(other)
        return cls(claim, *medians, unit, len(ratios), min(ratios), max(ratios), paper)

    def __str__(self) -> str:
        printed = "" if self.paper is None else f"; the paper's {self.paper:.2f}"
        return (
            f"{self.claim}: {self.ours:,.4g} against {self.other:,.4g} {self.unit}, ratio {self.ratio:.2f} "
            f"({self.lowest:.2f} to {self.highest:.2f} in {self.rounds} rounds{printed})"
        )
