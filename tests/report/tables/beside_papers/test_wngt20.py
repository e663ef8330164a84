"""WNGT20's table 4: every printed number, our values in the right rows, and ratios of the shown values."""

from dataclasses import replace

from tests.report.conftest import gpu_speed as speed
from tests.report.conftest import read
from weebill.report import papers
from weebill.report.tables.beside_papers.wngt20 import TABLES


def table4(results, speeds):
    """Return the paper's table 4 beside these speeds on a GPU."""
    return TABLES[-1].build(replace(results, gpu_speeds=speeds))


def test_wngt20_shows_each_student_at_its_fastest_batch(results):
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float32", False, 256, 400.0),
        speed("small/unpruned/float32", "float16", True, 256, 600.0),
        speed("small/pushy-i6/float32", "float16", True, 64, 800.0),
        speed("small/pushy-i6/float32", "float16", True, 1, 9000.0),  # latency of a few sentences
        speed("other/unpruned/float32", "float32", False, 64, 1.0),  # matches no row of the paper
    ]
    rows = {(row["model"], row["setting"]): row for row in read(table4(results, speeds))}
    printed = papers.load_table("wngt20", 4)
    shown = [row["wps_paper"] for row in rows.values() if row["wps_paper"]]
    assert sorted(shown) == sorted(printed["wps_gpu_t4"])
    assert len(rows) == len(printed) + 1  # tiny in plain float32 is not in the paper
    plain = rows["tiny", "float32"]
    assert (plain["wps_ours"], plain["batch_ours"]) == ("400", "256")
    listed = rows["tiny", "float16, shortlist"]
    assert (listed["wps_ours"], listed["wps_ours_delta"]) == ("600", "x1.50")
    assert listed["wps_paper"] == "8210"
    assert rows["tiny.pushy.i6", "float16, shortlist"]["wps_ours_delta"] == "x2.00"
    assert rows["large", "float16, shortlist"]["wps_paper_delta"] == "x1.55"  # 2748 / 1775
    assert "tiny.untied" in {model for model, _ in rows}


def test_every_student_beside_one_row_is_shown(results):
    """Each student is compared with its own float32 variant; each way to make its numbers has a row."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/int8", "int8", False, 32, 300.0),
        speed("small/unpruned/int8-finetuned", "int8", False, 32, 200.0),
        speed("small~2/unpruned/float32", "float32", False, 32, 50.0),
        speed("small~2/unpruned/int8", "int8", False, 32, 400.0),
    ]
    rows = {"small": {"wngt20": "tiny"}, "small~2": {"wngt20": "tiny"}}
    results.config = {**results.config, "report": {"rows": rows, "columns": {}}}
    rows = {row["ours"]: row for row in read(table4(results, speeds)) if row["ours"]}
    assert {name: (row["wps_ours"], row["wps_ours_delta"]) for name, row in rows.items()} == {
        "small/unpruned/float32": ("100", ""),
        "small/unpruned/int8": ("300", "x3.00"),
        "small/unpruned/int8-finetuned": ("200", "x2.00"),
        "small~2/unpruned/float32": ("50.0", ""),
        "small~2/unpruned/int8": ("400", "x8.00"),
    }
    assert {row["model"] for row in rows.values()} == {"tiny"}


def test_weights_of_4_bits_stand_beside_no_float32_of_the_paper(results):
    """Decoded weights multiply in float32 and float16, but the student differs from the paper's."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float16", True, 32, 200.0),
        speed("small/unpruned/log4", "float32", False, 32, 50.0),
        speed("small/unpruned/log4", "float16", True, 32, 150.0),
    ]
    results.config = {
        **results.config,
        "report": {"rows": {"small": {"wngt20": "tiny"}}, "columns": {}},
    }
    table = table4(results, speeds)
    shown = {
        (row["ours"], row["setting"]): (row["wps_ours"], row["wps_ours_delta"], row["wps_paper"])
        for row in read(table)
        if row["ours"]
    }
    assert shown == {
        ("small/unpruned/float32", "float32"): ("100", "", ""),
        ("small/unpruned/float32", "float16, shortlist"): ("200", "x2.00", "8210"),
        ("small/unpruned/log4", "float32, log4 weights"): ("50.0", "x0.50", ""),
        ("small/unpruned/log4", "float16, log4 weights, shortlist"): ("150", "x1.50", ""),
    }
    assert any(note.startswith("Not measured: several concurrent streams") for note in table.notes)
    bases = [row.cells[2].text for row in table.rows if row.kind == "baseline"]
    assert "small/unpruned/log4" not in bases


def test_bleu_of_what_was_timed_stands_beside_the_papers(results):
    """Our value in a paper's column is the mean over the test sets that `report.columns` names for it."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 1.0, {"first": 30.0, "second": 20.0}),
        speed("small/unpruned/float32", "float16", True, 32, 9.0, {"first": 29.5, "second": 21.0}),
        speed("small/unpruned/float32", "float16", True, 64, 2.0, {"first": 1.0, "second": 1.0}),
        speed("small/unpruned/float32", "bfloat16", True, 32, 3.0, {"first": 29.0}),
    ]
    rows = {(row["model"], row["setting"]): row for row in read(table4(results, speeds))}
    shown = {
        setting: tuple(rows["tiny", setting][f"bleu_{name}"] for name in names)
        for setting, names in {
            "float32": ("wmt19_ours", "wmt1x_ours", "wmt19_ours_delta", "wmt19_paper"),
            "float16, shortlist": (
                *("wmt19_ours", "wmt1x_ours", "wmt19_ours_delta", "wmt1x_ours_delta"),
                *("wmt19_paper", "wmt1x_paper"),
            ),
            "bfloat16, shortlist": ("wmt19_ours", "wmt1x_ours", "wmt19_ours_delta", "wmt19_paper"),
        }.items()
    }
    assert shown == {
        "float32": ("30.00", "25.00", "", ""),
        "float16, shortlist": ("29.50", "25.25", "-0.50", "+0.25", "41.5", "32.90"),
        "bfloat16, shortlist": ("29.00", "", "-1.00", ""),  # not all test sets of the column
    }
    large = rows["large", "float16, shortlist"]
    assert (large["bleu_wmt19_ours"], large["bleu_wmt1x_paper"]) == ("", "35.27")
    assert large["bleu_wmt1x_paper_delta"] == "-0.02"  # 35.29 in float32 without a shortlist
