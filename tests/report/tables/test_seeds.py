"""The table of seeds: means and deviations of the comparisons."""

import csv
import io

from weebill.evaluation.quality.comparison import SeedsComparison
from weebill.report import rendering
from weebill.report.results import Results
from weebill.report.tables.seeds import seeds_findings, seeds_table


def comparison(precision: str) -> SeedsComparison:
    return SeedsComparison(
        f"tiny/pushy/{precision}", f"tiny/random/{precision}", ["first", "second"], 2000, [1, 7], [30.0, 31.0],
        [29.0, 31.5], 0.25, -0.5, 0.75, "nrefs:1",
    )  # fmt: skip


def test_a_sentence_for_every_float32_comparison():
    assert seeds_findings(Results({}, seeds=[comparison("float32"), comparison("int8")])) == [
        "`tiny/pushy/float32` over 2 seeds: +0.25 (−0.50 to +0.75) against `random`."
    ]


def test_a_row_for_every_comparison():
    table = seeds_table(Results({}, seeds=[comparison("int8")]))
    [row] = csv.DictReader(io.StringIO(rendering.to_csv(table)))
    assert row == {
        "variant": "tiny/pushy/int8",
        "seeds": "2",
        "bleu": "30.50",
        "bleu_deviation": "0.71",
        "baseline": "random",
        "baseline_bleu": "30.25",
        "baseline_bleu_deviation": "1.77",
        "difference": "+0.25",
        "difference_low": "-0.50",
        "difference_high": "+0.75",
        "differences": "1: +1.00, 7: -0.50",
    }
    assert "2,000 sentences, first and second together; signature nrefs:1" in table.notes[-1]
