"""Tables 4 of the papers: every printed number, ours in its place, and ratios of what is shown."""

from tests.report.test_tables import read
from weebill.evaluation.gpu_speed import GpuSpeed
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


def test_wmt21_shows_seconds_by_batch_and_numbers():
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0),
        speed("small/unpruned/float32", "float32", True, 32, 1.0),  # the paper uses no shortlist
        speed("small/unpruned/float32", "float16", False, 32, 200.0),
        speed("small/unpruned/int8", "int8", False, 32, 400.0),
        speed("small/pushy-i6/float32", "float32", False, 32, 1.0),
        speed("small/unpruned/float32", "float32", False, 4, 50.0),
    ]
    rows = {row["batch"]: row for row in read(wmt21_table4(speeds))}
    printed = papers.load_table("wmt21", 4)[:-1]  # without its BLEU
    assert list(rows) == ["4", *printed["mini_batch"]]
    for row in printed.to_dict("records"):
        assert rows[row["mini_batch"]]["int8_paper"] == row["seconds_ours_8bit"]
    ours = rows["32"]
    assert [ours[f"{numbers}_ours"] for numbers in ("float32", "float16", "int8")] == [
        "10.0",
        "5.00",
        "2.50",
    ]
    assert ours["int8_ours_delta"] == "x0.25" and ours["int8_paper_delta"] == "x0.99"
    assert rows["4"]["float32_ours"] == "20.0" and rows["4"]["float32_paper"] == ""


def test_the_papers_numbers_alone():
    rows = read(wmt21_table4([]))
    assert len(rows) == len(papers.load_table("wmt21", 4)) - 1
