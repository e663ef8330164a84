"""Tables of ours beside the papers': the papers' numbers as printed, ours as measured, deltas by arithmetic."""

import csv
import io
import re
from decimal import Decimal

import pytest

from tests.report.conftest import BENCHMARK
from weebill.evaluation.measurement import Variant
from weebill.report import overview, paper_tables, papers, pruning, rendering, speeds
from weebill.report.table import delta, fixed, groups, three_digits

DEFINITIONS = pytest.mark.parametrize("definition", paper_tables.TABLES, ids=lambda d: d.name)


def read(table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendering.to_csv(table))))


def all_tables(results):
    yield pruning.worth_table(results)
    yield pruning.pruned_speed_table(results)
    yield overview.variants_table(results)
    yield overview.heads_table(results)
    yield speeds.speed_table(results)
    yield speeds.latency_table(results)
    yield speeds.benchmark_table(BENCHMARK)
    for definition in paper_tables.TABLES:
        yield paper_tables.build(definition, results)
        if definition.speed:
            yield paper_tables.build(definition, results, speed=True)


@DEFINITIONS
def test_every_number_of_the_paper_appears_as_printed_and_in_order(definition, results):
    printed = papers.load_table(definition.paper, definition.number)
    for speed in (False, True) if definition.speed else (False,):
        rows = [r for r in read(paper_tables.build(definition, results, speed)) if r["model"]]
        assert len(rows) == len(printed)
        shown = [name for name in printed.columns if f"{name}_paper" in rows[0]]
        assert shown or speed  # WNGT20's table 1 prints no speed, ours has it
        for name in shown:
            assert [row[f"{name}_paper"] for row in rows] == list(printed[name])


def test_no_quality_or_size_column_of_a_paper_is_left_out(results):
    left_out = {"comet_wmt20", "comet_wmt21"}  # not measured yet
    names = {"model", "precision", "pruning", "dec_tied", "enc_depth", "dec_depth"}
    for definition in paper_tables.TABLES:
        keys = {quantity.key for quantity in (*definition.columns, *definition.speed)}
        columns = set(papers.load_table(definition.paper, definition.number).columns)
        assert columns - names - left_out <= keys


@DEFINITIONS
def test_deltas_are_the_difference_of_what_is_shown(definition, results):
    table = paper_tables.build(definition, results)
    rows = read(table)
    checked = 0
    for side in ("ours", "paper"):
        by_name = {row["ours" if side == "ours" else "model"]: row for row in rows}
        for row in rows:
            base = by_name.get(baseline_of(definition, row, side))
            for quantity in definition.columns:
                key = f"{quantity.key}_{side}"
                shown = row.get(f"{key}_delta", "")
                if not shown:
                    continue
                value, start = Decimal(row[key]), Decimal(base[key])
                if shown.startswith("x"):
                    assert abs(Decimal(shown[1:]) - value / start) <= Decimal("0.05")
                else:
                    assert Decimal(shown) == value - start
                checked += 1
    assert checked > 5


def baseline_of(definition, row, side):
    if side == "ours":
        if definition.against_teacher:
            return "teacher/beam-4/float32"
        return row["ours"].split("/")[0] + "/unpruned/float32"
    if definition.against_teacher:
        return "teacher_x4" if definition.paper == "wngt20" else "teacher_x3"
    if definition.name == "wngt20_table2":
        return "tiny"
    return row["model"].split(" ")[0] + " float32"


def test_a_variant_stands_beside_the_row_of_its_recipe_and_precision(results):
    pairs = {
        name: {r["ours"]: r["model"] for r in read(table) if r["ours"]}
        for name, table in ((d.name, paper_tables.build(d, results)) for d in paper_tables.TABLES)
    }
    assert pairs["wngt20_table1"]["teacher/beam-4/float32"] == "teacher_x4"
    assert pairs["wngt20_table1"]["teacher/greedy/float32"] == ""
    assert pairs["wngt20_table2"]["small/pushy-i6/float32"] == "tiny.pushy.i6"
    assert pairs["wngt20_table3"]["small/unpruned/int8-finetuned"] == "tiny 8bit"
    assert pairs["wngt20_table3"]["small/unpruned/int8"] == ""  # printed for base alone
    assert pairs["wngt20_table3"]["small/unpruned/log4-finetuned"] == "tiny log-4bit"
    assert pairs["wmt21_table2"]["small/unpruned/float32"] == "12-1.tiny float32"
    assert pairs["wmt21_table3"]["small/unpruned/log4-finetuned"] == "12-1.tiny log-4bit"
    assert pairs["wngt20_table1"]["other/unpruned/float32"] == ""


def test_ours_are_the_measured_numbers(results):
    rows = {r["ours"]: r for r in read(paper_tables.build(paper_tables.TABLES[1], results))}
    row = rows["small/pushy-i6/float32"]
    assert row["bleu_wmt19_ours"] == "38.50"  # first
    assert row["bleu_wmt1x_ours"] == "35.50"  # mean of 38.5 and 32.5
    assert row["bleu_wmt19_ours_delta"] == "-0.50"
    assert row["enc_heads_ours"] == "2 2 2 2 2 2"
    assert row["size_mb_ours"] == "55.0"
    row = next(iter(read(paper_tables.build(paper_tables.TABLES[4], results))))
    # No test set of ours stands for WMT21: empty, not invented.
    assert (row["ours"], row["bleu_wmt21_ours"]) == ("small/unpruned/float32", "")


def test_tables_of_pruning_hold_the_recipes_of_their_method(pruned_results):
    """Beside the papers' own: what takes heads in one, group lasso and its shapes in the other."""
    heads, lasso = (
        {r["ours"]: r for r in read(paper_tables.build(paper_tables.TABLES[place], pruned_results))}
        for place in (1, 4)
    )
    assert [name.split("/")[1] for name in heads if name] == ["unpruned", "pushy", "chance"]
    assert heads["small/pushy/float32"]["enc_heads_ours"] == "1 3"
    assert list(dict.fromkeys(name.split("/")[1] for name in lasso if name)) == [
        "unpruned", "lasso", "anew"
    ]  # fmt: skip
    for precision in ("float32", "int8"):
        row = lasso[f"small/lasso/{precision}"]
        assert (row["sparsity_att_ours"], row["sparsity_ffn_ours"]) == ("0.75", "0.75")


def test_printed_figures_that_cannot_be_met_are_explained(results):
    notes = [" ".join(paper_tables.build(d, results).notes) for d in paper_tables.TABLES]
    assert "micro.8k: the printed 7.0 M does not follow" in notes[0]
    assert "teacher_x3: the printed 619.0 M does not follow" in notes[3]


def test_speeds_stand_apart(results):
    for definition in paper_tables.TABLES:
        text = rendering.to_csv(paper_tables.build(definition, results))
        assert "wps" not in text
        assert "seconds" not in text
    rows = read(paper_tables.build(paper_tables.TABLES[2], results, speed=True))
    row = next(r for r in rows if r["ours"] == "small/unpruned/int8-finetuned")
    assert (row["wps_1core_ours"], row["wps_1core_ours_delta"]) == ("3000", "x1.50")
    assert (row["wps_multicore_ours"], row["wps_multicore_paper"]) == ("6000", "70037")


def test_students_speeds_are_the_runtimes_and_the_teachers_pytorchs(results):
    table = speeds.speed_table(results)
    rows = {(r["variant"], r["engine"]): r for r in read(table)}
    assert len(rows) == 2 + 2 * 8  # the teacher's two searches by PyTorch alone
    student = "small/unpruned/int8-finetuned"
    fast, reference = (
        rows[student, engine] for engine in ("Weebill runtime (vnni)", "PyTorch reference")
    )
    assert (fast["wps_1core"], reference["wps_1core"]) == ("3000", "750")
    assert fast["wps_1core_delta"] == "x15.0"  # against the teacher's 200
    assert rows["teacher/beam-4/float32", "PyTorch reference"]["wps_all"] == "400"
    first = next(r for r in read(table) if r["variant"] == student)
    assert first["engine"] == "Weebill runtime (vnni)"
    # All cores: the fastest way to share them out, 1 x 2 threads here; both ways are told.
    assert rows["other/unpruned/float32", "PyTorch reference"]["wps_all"] == "2500"
    assert any("by 1 x 2 threads: 2500 words/s" in note for note in table.notes)
    notes = " ".join(paper_tables.build(paper_tables.TABLES[2], results, speed=True).notes)
    assert "the teacher by the PyTorch reference, students by the Weebill runtime (vnni)" in notes


def test_latencies_and_the_benchmark_are_shown_as_measured(results):
    rows = read(speeds.latency_table(results))
    assert len(rows) == len(results.latencies)
    row = next(r for r in rows if r["engine"] == "Weebill runtime (vnni)")
    assert [row[key] for key in ("mean_ms", "p50_ms", "p95_ms", "p99_ms")] == [
        "1.25", "1.00", "4.00", "20.0"
    ]  # fmt: skip
    assert (row["load_seconds"], row["idle_mib"], row["peak_mib"]) == ("0.12", "300", "412")
    first, second = read(speeds.benchmark_table(BENCHMARK))
    assert (first["ratio"], first["lowest"], first["highest"], first["paper"]) == (
        "2.50", "2.38", "2.62", "1.41"
    )  # fmt: skip
    assert (second["ours"], second["unit"], second["paper"]) == ("0.500", "ms", "")


def cells_of_markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[c.strip().strip("*") for c in line.strip("|").split(" | ")] for line in lines[2:]]


def cells_of_latex(text: str) -> list[list[str]]:
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    lines = [line.removesuffix(" \\\\") for line in body.splitlines()[1:]]
    marks = (
        ("$-$", "−"),
        ("$\\times$", "×"),
        ("--", "–"),
        ("\\_", "_"),
        ("\\textbf{", ""),
        ("}", ""),
    )
    for latex, plain in marks:
        lines = [line.replace(latex, plain) for line in lines]
    return [line.split(" & ") for line in lines]


def test_markdown_and_latex_hold_the_numbers_of_the_csv(results):
    for table in all_tables(results):
        expected = []
        for row in table.rows:
            signs = [c.delta.replace("-", "−").replace("x", "×") for c in row.cells]
            expected.append(
                [
                    (f"{c.text} ({sign})" if sign else c.text) or "–"
                    for c, sign in zip(row.cells, signs, strict=True)
                ]
            )
        assert cells_of_markdown(rendering.to_markdown(table)) == expected
        assert cells_of_latex(rendering.to_latex(table)) == expected


def test_latex_is_balanced(results):
    for table in all_tables(results):
        text = rendering.to_latex(table)
        assert text.count("{") == text.count("}") + text.count("\\{") - text.count("\\}")
        body = text[text.index("\\midrule") : text.index("\\bottomrule")]
        for line in body.splitlines()[1:]:
            assert line.count(" & ") == len(table.columns) - 1
        for character in "%#":
            assert not re.search(rf"(?<!\\){character}(?! needs|$)", text, re.MULTILINE)


def test_pages_need_nothing_from_the_network(results):
    for table in all_tables(results):
        page = rendering.to_html(table)
        assert "http" not in page
        assert "<script" not in page
        assert page.count("<tr") == len(table.rows) + (
            2 if any(c.title for c in table.columns) else 1
        )


def test_variants_table_has_every_variant_and_its_signature(results):
    table = overview.variants_table(results)
    rows = read(table)
    assert len(rows) == len(results.variants) * 2
    row = next(
        r for r in rows if (r["variant"], r["test_set"]) == ("small/pushy-i6/float32", "second")
    )
    assert (row["bleu"], row["bleu_low"], row["bleu_high"]) == ("32.50", "31.50", "33.50")
    assert (row["bleu_delta"], row["bleu_p"]) == ("-0.50", "0.040")
    assert any("seed:12345" in note for note in table.notes)


def test_heads_table_counts_what_went(results):
    rows = {r["variant"]: r for r in read(overview.heads_table(results))}
    assert rows["small/pushy-i6"]["heads"] == "12"
    assert rows["small/pushy-i6"]["heads_delta"] == "-36"
    assert rows["other/unpruned"]["heads_3"] == "4"
    assert rows["other/unpruned"]["heads_4"] == ""


def test_deltas_of_shown_numbers():
    assert delta("41.1", "41.5", "difference") == "-0.4"
    assert delta("41.6", "41.5", "difference") == "+0.1"
    assert delta("17", "65", "ratio") == "x0.26"
    assert delta("65", "1536", "ratio") == "x0.042"
    assert delta("2220", "100", "ratio") == "x22.2"
    assert delta("", "41.5", "difference") == ""
    assert delta("41.1", "", "ratio") == ""
    assert delta("1", "0", "ratio") == ""


def test_the_teacher_is_never_what_minimum_risk_chose(results):
    """Also where its own search is greedy, with a beam of 1."""
    assert results.teacher == Variant.parse("teacher/beam-4/float32")
    searches = ["teacher/greedy/float32", "teacher/mbr-8/float32"]
    results.variants = [Variant.parse(name) for name in searches]
    assert str(results.teacher) == searches[0]


def test_numbers_as_shown():
    assert [three_digits(x) for x in (0.1234, 0.9999, 1.0, 9.999, 15.69, 99.96, 385.5)] == [
        "0.123", "1.00", "1.00", "10.0", "15.7", "100", "386"
    ]  # fmt: skip
    assert [three_digits(x) for x in (0.0456, 0.00099996, 0.00012, 0.0)] == [
        "0.0456", "0.00100", "0.000120", "0.00"
    ]  # fmt: skip
    assert fixed(None, 2) == three_digits(None) == ""
    assert fixed(-0.001, 2) == "0.00"


def test_neighbouring_columns_share_a_heading(results):
    table = overview.variants_table(results)
    assert [width for heading, width in groups(table.columns) if "95 %" in heading] == [2, 2]


def test_further_searches_of_a_student_stand_beside_the_teacher_alone(results):
    """Tables of pruning and precision compare models, which a search does not change."""
    for definition in paper_tables.TABLES:
        ours = {row["ours"] for row in read(paper_tables.build(definition, results))}
        assert ("small/beam-4/float32" in ours) == (definition.number == 1)
    heads = {row["variant"] for row in read(overview.heads_table(results))}
    assert heads == {"small/unpruned", "small/pushy-i6", "other/unpruned"}
