"""Tables of pruning's gains, compared with the invented experiment that they show."""

import dataclasses

import pytest

from tests.report.conftest import BASELINES, PRUNED, read
from weebill.evaluation.quality.comparison import SeedsComparison
from weebill.report.results import Results
from weebill.report.tables import pruning


def test_every_pruned_variant_stands_beside_its_unpruned_self_and_its_baselines(pruned_results):
    rows = read(pruning.worth_table(pruned_results))
    pairs = [(row["variant"], row["baseline"]) for row in rows]
    expected = []
    for precision in ("float32", "int8"):
        expected.append((f"small/unpruned/{precision}", ""))
        for recipe in PRUNED:
            if recipe != "unpruned":
                others = ["unpruned", *BASELINES.get(recipe, [])]
                expected += [(f"small/{recipe}/{precision}", other) for other in others]
    assert pairs == expected


def test_the_table_tells_what_was_measured(pruned_results):
    rows = {(r["variant"], r["baseline"]): r for r in read(pruning.worth_table(pruned_results))}
    row = rows["small/lasso/int8", "anew"]
    assert (row["bleu"], row["bleu_low"], row["bleu_high"]) == ("28.75", "27.75", "29.75")
    assert [row[f"difference{end}"] for end in ("", "_low", "_high")] == ["+1.00", "+0.50", "+1.50"]
    assert (row["method"], row["p"]) == ("group-lasso, rowcol", "0.010")
    assert (row["sparsity_att"], row["sparsity_ffn"]) == ("0.75", "0.75")
    # Two layers of width 256: 4 and 0 heads of size 32, 10 and 40 neurons.
    heads = 4 * 256 * 128 + 3 * 128 + 2 * 256
    neurons = 2 * 256 * 50 + 50 + 2 * 256
    norms = 2 * 4 * 256
    assert float(row["encoder_parameters_m"]) == pytest.approx(
        (heads + neurons + norms) / 1e6, abs=5e-4
    )
    whole = rows["small/unpruned/float32", ""]
    assert (whole["bleu"], whole["bleu_low"], whole["difference"]) == ("30.00", "29.00", "")
    ratio = float(row["encoder_parameters_m"]) / float(whole["encoder_parameters_m"])
    assert float(row["encoder_parameters_m_delta"][1:]) == pytest.approx(ratio, abs=0.005)


def test_speeds_are_ratios_to_the_unpruned_student_in_the_same_precision(pruned_results):
    rows = {row["recipe"]: row for row in read(pruning.pruned_speed_table(pruned_results))}
    assert list(rows) == [f"small/{recipe}" for recipe in PRUNED]
    row = rows["small/lasso"]
    assert [row[key] for key in ("float32", "int8", "float32_all", "int8_all")] == [
        "1500", "3000", "3000", "6000"
    ]  # fmt: skip
    assert {row[f"{key}_delta"] for key in ("float32", "int8", "float32_all")} == {"x1.50"}
    assert rows["small/unpruned"]["int8"] == "2000"
    assert rows["small/unpruned"]["int8_delta"] == ""


def test_each_8_bit_precision_has_speeds_of_its_own(pruned_results):
    """Fine-tuned and untuned int8 have separate rows, and neither is the base of the other's ratio."""
    tuned = [
        dataclasses.replace(
            row,
            variant=row.variant.replace("/int8", "/int8-finetuned"),
            words_per_second=3 * row.words_per_second,
        )
        for row in pruned_results.speeds
        if row.variant.endswith(("unpruned/int8", "lasso/int8"))
    ]
    pruned_results.speeds += tuned
    untuned = [row for row in pruned_results.speeds if row.variant == "small/lasso/int8"]
    for row in untuned:
        pruned_results.speeds.remove(row)
    rows = {row["recipe"]: row for row in read(pruning.pruned_speed_table(pruned_results))}
    whole, lasso = rows["small/unpruned"], rows["small/lasso"]
    assert (whole["int8"], whole["int8-finetuned"]) == ("2000", "6000")
    assert (lasso["int8"], lasso["int8-finetuned"]) == ("", "9000")
    assert (lasso["int8_delta"], lasso["int8-finetuned_delta"]) == ("", "x1.50")
    assert (lasso["int8-finetuned_all"], rows["small/pushy"]["int8-finetuned"]) == ("18000", "")


def test_findings_tell_differences_with_their_intervals(pruned_results):
    lines = pruning.findings(pruned_results)
    assert len(lines) == len(PRUNED) - 1
    assert lines[0] == (
        "`small/pushy/float32`, without 75% of the attention heads of its encoder: BLEU 29.50, "
        "−0.50 (−1.00 to +0.00) against `unpruned`, +1.25 (+0.75 to +1.75) against `chance`."
    )
    assert "75% of the attention heads and 75% of the feed-forward neurons" in lines[2]
    (chance,) = [line for line in lines if "at random" in line]
    assert chance.startswith("`small/chance/float32`")


def over_seeds(precision: str) -> SeedsComparison:
    return SeedsComparison(
        f"tiny/pushy/{precision}", f"tiny/random/{precision}", ["first", "second"], 2000, [1, 7], [30.0, 31.0],
        [29.0, 31.5], 0.25, -0.5, 0.75, "nrefs:1",
    )  # fmt: skip


def test_a_sentence_for_every_float32_comparison():
    assert pruning.seeds_findings(
        Results({}, seeds=[over_seeds("float32"), over_seeds("int8")])
    ) == ["`tiny/pushy/float32` over 2 seeds: +0.25 (−0.50 to +0.75) against `random`."]


def test_a_row_for_every_comparison():
    table = pruning.seeds_table(Results({}, seeds=[over_seeds("int8")]))
    [row] = read(table)
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
