"""Tables 4 of the papers: every printed number, ours in its place, and ratios of what is shown."""

import pytest

from tests.report.test_tables import read
from weebill.errors import InputError
from weebill.evaluation.timing.gpu_speed import GpuSpeed
from weebill.report import papers
from weebill.report.gpu import wmt21_table4, wngt20_table4


def speed(variant, numbers, shortlist, batch, words_per_second):
    return GpuSpeed(
        variant, numbers, shortlist, batch, 10, 1000, [1.0], words_per_second, "a GPU", {}
    )


def test_wngt20_shows_each_student_at_its_fastest_batch(results):
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float32", False, 256, 400.0),
        speed("small/unpruned/float32", "float16", True, 256, 600.0),
        speed("small/pushy-i6/float32", "float16", True, 64, 800.0),
        speed("other/unpruned/float32", "float32", False, 64, 1.0),  # beside no row of the paper
    ]
    rows = {(row["model"], row["setting"]): row for row in read(wngt20_table4(results, speeds))}
    printed = papers.load_table("wngt20", 4)
    shown = [row["wps_paper"] for row in rows.values() if row["wps_paper"]]
    assert sorted(shown) == sorted(printed["wps_gpu_t4"])
    assert len(rows) == len(printed) + 1  # tiny in plain float32 is ours alone
    plain = rows["tiny", "float32"]
    assert (plain["wps_ours"], plain["batch_ours"]) == ("400", "256")
    listed = rows["tiny", "float16, shortlist"]
    assert (listed["wps_ours"], listed["wps_ours_delta"]) == ("600", "x1.50")
    assert listed["wps_paper"] == "8210"
    assert rows["tiny.pushy.i6", "float16, shortlist"]["wps_ours_delta"] == "x2.00"
    assert rows["large", "float16, shortlist"]["wps_paper_delta"] == "x1.55"  # 2748 / 1775
    assert "tiny.untied" in {model for model, _ in rows}


def test_every_student_beside_one_row_is_shown(results):
    """Each against its own plain self; of one student each way in which its numbers were made."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/int8", "int8", False, 32, 300.0),
        speed("small/unpruned/int8-finetuned", "int8", False, 32, 200.0),
        speed("small~2/unpruned/float32", "float32", False, 32, 50.0),
        speed("small~2/unpruned/int8", "int8", False, 32, 400.0),
    ]
    rows = {"small": {"wngt20": "tiny"}, "small~2": {"wngt20": "tiny"}}
    results.config = {**results.config, "report": {"rows": rows}}
    rows = {row["ours"]: row for row in read(wngt20_table4(results, speeds)) if row["ours"]}
    assert {name: (row["wps_ours"], row["wps_ours_delta"]) for name, row in rows.items()} == {
        "small/unpruned/float32": ("100", ""),
        "small/unpruned/int8": ("300", "x3.00"),
        "small/unpruned/int8-finetuned": ("200", "x2.00"),
        "small~2/unpruned/float32": ("50", ""),
        "small~2/unpruned/int8": ("400", "x8.00"),
    }
    assert {row["model"] for row in rows.values()} == {"tiny"}


def test_weights_of_4_bits_stand_beside_no_float32_of_the_paper(results):
    """Decoded weights are multiplied in float32 and float16, and yet are another student than the paper's."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float16", True, 32, 200.0),
        speed("small/unpruned/log4", "float32", False, 32, 50.0),
        speed("small/unpruned/log4", "float16", True, 32, 150.0),
    ]
    results.config = {**results.config, "report": {"rows": {"small": {"wngt20": "tiny"}}}}
    rows = [row for row in read(wngt20_table4(results, speeds)) if row["ours"]]
    shown = {
        (row["ours"], row["setting"]): (row["wps_ours"], row["wps_ours_delta"], row["wps_paper"])
        for row in rows
    }
    assert shown == {
        ("small/unpruned/float32", "float32"): ("100", "", ""),
        ("small/unpruned/float32", "float16, shortlist"): ("200", "x2.00", "8210"),
        ("small/unpruned/log4", "float32, log4 weights"): ("50", "x0.50", ""),
        ("small/unpruned/log4", "float16, log4 weights, shortlist"): ("150", "x1.50", ""),
    }
    bases = [row for row in wngt20_table4(results, speeds).rows if row.kind == "baseline"]
    assert "small/unpruned/log4" not in [row.cells[2].text for row in bases]


def test_wmt21_shows_seconds_by_variant_batch_and_numbers():
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float32", True, 32, 1.0),  # the paper uses no shortlist
        speed("small/unpruned/float32", "float16", False, 32, 200.0),
        speed("small/unpruned/float32", "float32", False, 4, 50.0),
        speed("small/unpruned/int8", "int8", False, 32, 400.0),
        speed("small/unpruned/int8-finetuned", "int8", False, 32, 500.0),
        speed("small/unpruned/log4", "float32", False, 32, 80.0),
        speed("small/unpruned/log4", "float16", False, 32, 160.0),
        speed("small/unpruned/log4-finetuned", "float32", False, 32, 10.0),
        speed("small/pushy-i6/float32", "float32", False, 32, 1.0),
    ]
    rows = {(row["variant"], row["batch"]): row for row in read(wmt21_table4(speeds))}
    printed = papers.load_table("wmt21", 4)[:-1]  # without its BLEU
    batches = ["4", *printed["mini_batch"]]
    assert [b for name, b in rows if name == "small/unpruned/float32"] == batches
    assert [b for name, b in rows if name == "small/unpruned/int8"] == batches[1:]
    assert [b for name, b in rows if name == "small/unpruned/log4"] == ["32"]
    for row in printed.to_dict("records"):
        batch = row["mini_batch"]
        plain, tuned = (rows[f"small/unpruned/{name}", batch] for name in ("float32", "int8"))
        assert plain["float32_paper"] == row["seconds_ours_fp32"]
        assert plain["float16_paper"] == row["seconds_ours_fp16"]
        assert (plain["int8_paper"], tuned["int8_paper"]) == ("", row["seconds_ours_8bit"])
    kinds = ("float32", "float16", "int8")
    ours = {
        name.removeprefix("small/unpruned/"): [
            (row[f"{kind}_ours"], row[f"{kind}_ours_delta"]) for kind in kinds
        ]
        for (name, batch), row in rows.items()
        if batch == "32"
    }
    assert ours == {
        "float32": [("10.0", ""), ("5.00", "x0.50"), ("", "")],
        "int8": [("", ""), ("", ""), ("2.50", "x0.25")],
        "int8-finetuned": [("", ""), ("", ""), ("2.00", "x0.20")],
        "log4": [("12.5", "x1.25"), ("6.25", "x0.62"), ("", "")],
        "log4-finetuned": [("100", "x10.0"), ("", ""), ("", "")],
    }
    assert rows["small/unpruned/int8", "32"]["int8_paper_delta"] == "x0.99"
    four = rows["small/unpruned/float32", "4"]
    assert (four["float32_ours"], four["float32_paper"]) == ("20.0", "")


def test_a_student_without_int8_has_the_papers_beside_it():
    rows = read(wmt21_table4([speed("small/unpruned/float32", "float32", False, 32, 100.0)]))
    printed = papers.load_table("wmt21", 4)[:-1]
    assert [row["int8_paper"] for row in rows] == list(printed["seconds_ours_8bit"])


def test_a_setting_timed_twice_is_refused():
    twice = 2 * [speed("small/unpruned/log4", "float16", False, 32, 100.0)]
    with pytest.raises(InputError, match="log4 was timed twice in float16 with batches of 32"):
        wmt21_table4(twice)


def test_the_papers_numbers_alone():
    rows = read(wmt21_table4([]))
    assert len(rows) == len(papers.load_table("wmt21", 4)) - 1
