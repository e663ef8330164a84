"""Common parts of tables that compare variants in BLEU."""

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.report.table import Column, fixed, probability, signed

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison, SeedsComparison

SCORE = [Column("bleu", "BLEU"), *Column.grouped("BLEU, 95 %", bleu_low="from", bleu_high="to")]
DIFFERENCE = [
    Column("difference", "BLEU difference"),
    *Column.grouped("BLEU difference, 95 %", difference_low="from", difference_high="to"),
    Column("p", "p"),
]
RESAMPLED = "by sacreBLEU's paired bootstrap resampling, whose p is one-sided: about half of a two-sided test's."
PAIRED = (
    "BLEU differences are above 0 where the variant is better than what it is compared with; p and the 95 % interval "
    f"of a difference: {RESAMPLED}"
)


def scores(one: "Comparison", side: str = "") -> list[str]:
    """Format BLEU and its bounds for the variant, or for its baseline if `side` is "baseline_"."""
    return [fixed(getattr(one, f"{side}{name}"), 2) for name in ("score", "low", "high")]


def differences(one: "Comparison | SeedsComparison") -> list[str]:
    """Format the difference to the baseline, and its bounds."""
    return list(map(signed, (one.difference, one.difference_low, one.difference_high)))


def tested(one: "Comparison") -> list[str]:
    """Format the difference to the baseline, its bounds and its p-value."""
    return [*differences(one), probability(one.p_value)]


def in_words(one: "Comparison | SeedsComparison") -> str:
    """Return text like "−0.50 (−1.00 to +0.00) against `unpruned`"."""
    difference, low, high = (text.replace("-", "−") for text in differences(one))
    return f"{difference} ({low} to {high}) against `{Variant.parse(one.baseline).recipe}`"


def resolution_note(rows: "Sequence[Comparison | SeedsComparison]") -> str:
    """State the smallest difference that the comparisons can show: half of the median interval."""
    half = statistics.median((one.difference_high - one.difference_low) / 2 for one in rows)
    return f"Differences of less than about {fixed(half, 2)} BLEU, half of the median interval, cannot be shown here."


def text_note(one: "Comparison | SeedsComparison") -> str:
    """Name the text of a comparison, and its signature."""
    sets = " and ".join(one.test_sets)
    together = " together" * (len(one.test_sets) > 1)
    return f"BLEU of {one.sentences:,} sentences, {sets}{together}; signature {one.signature}."
