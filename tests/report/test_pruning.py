"""What pruning is worth: tables, sentences and figures against the invented experiment they come from."""

import csv
import dataclasses
import io
import json

import pytest

from tests.report.conftest import BASELINES, PRUNED
from weebill.report import figures, pruning, pruning_figures, rendering
from weebill.report.pruning_page import FIGURES, pruning_page
from weebill.report.run_time import run_time_table


def read(table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendering.to_csv(table))))


def datasets(chart) -> list[dict]:
    return [row for data in chart.to_dict()["datasets"].values() for row in data]


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
    # two layers of 4 and 0 heads of 32, 10 and 40 neurons, between 256 dimensions
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
    """Fine-tuned beside untuned: neither stands for the other, nor is the base of its ratio."""
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


def test_a_line_for_each_method_that_takes_heads(pruned_results):
    rows = datasets(pruning_figures.quality_by_heads(pruned_results))
    found = {
        (r["method"], r["heads"], r["what"], r["score"], r["baseline"]) for r in rows if r["heads"]
    }
    assert found == {
        ("late-reset, confidence", 12, "heads", 29.5, False),
        ("late-reset, random", 12, "heads", 28.25, True),
        ("group-lasso, rowcol", 12, "heads and neurons", 29.0, False),
        ("from-scratch", 12, "heads and neurons", 28.0, True),
        ("depth", 8, "layers", 27.0, False),
    }
    assert {r["score"] for r in rows if not r["heads"]} == {30.0}
    assert all((r["low"], r["high"]) == (r["score"] - 1, r["score"] + 1) for r in rows)
    assert len({r["shown"] for r in rows if r["heads"] == 12}) == 4  # none hides another


def test_methods_that_take_no_neurons_are_not_in_that_figure(pruned_results):
    rows = datasets(pruning_figures.quality_by_neurons(pruned_results))
    taken = {(r["method"], r["neurons"]) for r in rows if r["neurons"]}
    assert taken == {("group-lasso, rowcol", 0.75), ("from-scratch", 0.75), ("depth", 0.5)}
    only_heads = [one for one in pruned_results.comparisons if "/pushy/" in one.variant]
    pruned_results.comparisons = only_heads
    assert "none in this experiment" in json.dumps(
        pruning_figures.quality_by_neurons(pruned_results).to_dict()
    )


def test_quality_by_speed_shows_every_variant_that_was_compared(pruned_results):
    rows = datasets(pruning_figures.quality_by_speed(pruned_results))
    found = {(r["recipe"], r["precision"], r["words_per_second"], r["score"]) for r in rows}
    assert found == {
        (recipe, precision, times * rate, bleu - loss)
        for recipe, (_, _, _, bleu, rate) in PRUNED.items()
        for precision, times, loss in (("float32", 1, 0.0), ("int8", 2, 0.25))
    }


HEADS = [
    {"student": "small", "recipe": recipe, "block": block, "head": head, "removed_in": step, "score": score}
    for recipe, block, head, step, score in (
        ("pushy", "encoder.0.self_attention", "0", "2", "0.5"),
        ("pushy", "encoder.0.self_attention", "1", "", "0.75"),
        ("lasso", "decoder.1.cross_attention", "7", "1", ""),
    )
]  # fmt: skip


def test_head_maps_tell_the_step_of_each_head():
    rows = datasets(pruning_figures.head_maps(HEADS))
    assert [(r["recipe"], r["layer"], r["head"], r["step"], r["score"]) for r in rows] == [
        ("small/pushy", "encoder 1", 1, 2, 0.5),
        ("small/pushy", "encoder 1", 2, None, 0.75),
        ("small/lasso", "decoder 2 cross", 8, 1, None),
    ]


@pytest.mark.parametrize("rows", [HEADS, []], ids=["heads", "none"])
def test_head_maps_are_written_in_every_format(rows, tmp_path):
    figures.save(pruning_figures.head_maps(rows), tmp_path, "head_maps")
    assert {path.name for path in tmp_path.iterdir()} == {f"head_maps.{f}" for f in figures.FORMATS}


def test_the_page_holds_both_papers_tables_and_every_figure(pruned_results, tmp_path):
    config = {
        **pruned_results.config,
        "seed": 1,
        "corpora": {"tatoeba": {}},
        "students": ["small"],
        "training": {"updates": 2000},
    }
    links = {heading: f"figures/{name}.svg" for name, heading in FIGURES.items()}
    page = pruning_page(pruned_results, run_time_table(tmp_path), config, links)
    for title in ("WNGT20 table 2", "WMT21 table 2"):
        assert sum(line.startswith(f"## {title}") for line in page.splitlines()) == 2
    for heading, link in links.items():
        assert f"![{heading}]({link})" in page
    assert "| lasso | group-lasso | groups rowcol |" in page
    assert "Test processor" in page and "seed 1. Corpora" in page
