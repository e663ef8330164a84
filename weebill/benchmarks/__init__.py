"""Speed claims of the project: one module per benchmark, found by its name.

Each module has `run(rounds, …) -> Iterable[Row]`, whose further parameters are its options (`options.Option`).
It may have `OPPONENTS`, packages that it needs and whose versions are reported with the rows, and `SMALLEST`, the
options of the smallest meaningful run (`weebill benchmark all`).
"""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

NAMES = ("cleaning", "generation", "mbr", "metric", "runtime", "scoring", "search", "training")
SMALLER_IS_BETTER = ("ms", "MiB")  # units


@dataclass(frozen=True)
class Row:
    """Claim: medians over rounds of our figure and the opponent's, in `unit`; ratio = ours / other.

    lowest, highest: smallest and largest ratio of a single round.  paper: the same ratio from a paper's table.
    key: identifies the same claim in another run; it is the claim itself unless the claim contains results.
    """

    claim: str
    ours: float
    other: float
    unit: str
    rounds: int
    lowest: float
    highest: float
    paper: float | None = None
    key: str = ""
    ratio: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", self.ours / self.other)
        object.__setattr__(self, "key", self.key or self.claim)

    @classmethod
    def of_rounds(
        cls,
        claim: str,
        ours: Sequence[float],
        other: Sequence[float],
        unit: str,
        paper: float | None = None,
        key: str = "",
    ) -> "Row":
        """Make a row from the figures of each round, in the same order on both sides."""
        ratios = [one / two for one, two in zip(ours, other, strict=True)]
        medians = statistics.median(ours), statistics.median(other)
        return cls(claim, *medians, unit, len(ratios), min(ratios), max(ratios), paper, key)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values, ready for JSON, without its key."""
        return {name: value for name, value in asdict(self).items() if name != "key"}

    def __str__(self) -> str:
        printed = "" if self.paper is None else f"; the paper's {self.paper:.2f}"
        return (
            f"{self.claim}: {self.ours:,.4g} against {self.other:,.4g} {self.unit}, ratio {self.ratio:.2f} "
            f"({self.lowest:.2f} to {self.highest:.2f} in {self.rounds} rounds{printed})"
        )
