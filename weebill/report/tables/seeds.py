"""Table of seeds: the worth of pruning for students that were trained and pruned from several seeds."""

import statistics
from collections.abc import Sequence

from weebill.evaluation.measurement import Variant
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, signed


def seeds_table(results: Results) -> Table:
    """Return a row for every comparison of a variant with a baseline over the seeds."""
    columns = (
        Column("variant", "Variant", numeric=False),
        Column("seeds", "Seeds"),
        Column("bleu", "BLEU", "mean"),
        Column("bleu_deviation", "BLEU", "standard deviation"),
        Column("baseline", "Compared with", numeric=False),
        Column("baseline_bleu", "Its BLEU", "mean"),
        Column("baseline_bleu_deviation", "Its BLEU", "standard deviation"),
        Column("difference", "Difference", "mean"),
        Column("difference_low", "Difference", "95 %, from"),
        Column("difference_high", "Difference", "95 %, to"),
        Column("differences", "Difference by seed", numeric=False),
    )
    rows = []
    for one in results.seeds:
        differences = [a - b for a, b in zip(one.scores, one.baseline_scores, strict=True)]
        by_seed = zip(one.seeds, differences, strict=True)
        rows.append(
            Row(
                (
                    Cell(one.variant),
                    Cell(str(len(one.seeds))),
                    *_spread(one.scores),
                    Cell(Variant.parse(one.baseline).recipe),
                    *_spread(one.baseline_scores),
                    Cell(signed(one.difference)),
                    Cell(signed(one.difference_low)),
                    Cell(signed(one.difference_high)),
                    Cell(", ".join(f"{seed}: {signed(value)}" for seed, value in by_seed)),
                )
            )
        )
    first = results.seeds[0]
    return Table(
        "seeds",
        "Other seeds",
        "The same students, trained and pruned from several seeds: does what one seed shows hold for others?",
        columns,
        tuple(rows),
        (
            "BLEU differences are above 0 where the variant is better. Intervals by bootstrap resampling of "
            "sentences and of seeds; of few seeds they are rather too narrow.",
            f"BLEU of {first.sentences:,} sentences, {' and '.join(first.test_sets)} together; signature "
            f"{first.signature}.",
        ),
    )


def seeds_findings(results: Results) -> list[str]:
    """Return a sentence for each comparison of a float32 variant with a baseline."""
    lines = []
    for one in results.seeds:
        if Variant.parse(one.variant).precision != "float32":
            continue
        bounds = (one.difference, one.difference_low, one.difference_high)
        difference, low, high = (signed(value).replace("-", "−") for value in bounds)
        lines.append(
            f"`{one.variant}` over {len(one.seeds)} seeds: {difference} ({low} to {high}) against "
            f"`{Variant.parse(one.baseline).recipe}`."
        )
    return lines


def _spread(scores: Sequence[float]) -> tuple[Cell, Cell]:
    """Return the cells of the mean and the standard deviation."""
    return Cell(fixed(statistics.mean(scores), 2)), Cell(fixed(statistics.stdev(scores), 2))
