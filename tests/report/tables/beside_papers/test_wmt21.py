"""WMT21's table 4: every printed number, our values in the right rows, and ratios of the shown values."""

import pytest

from tests.report.conftest import gpu_speed as speed
from tests.report.conftest import read
from weebill.errors import InputError
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.tables.beside_papers.wmt21 import TABLES


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
        speed("small/unpruned/float32", "float32", False, 1, 7.0),  # latency of a few sentences
    ]
    rows = {
        (row["variant"], row["batch"]): row
        for row in read(TABLES[-1].build(Results({}, gpu_speeds=speeds)))
    }
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
    rows = read(
        TABLES[-1].build(
            Results({}, gpu_speeds=[speed("small/unpruned/float32", "float32", False, 32, 100.0)])
        )
    )
    printed = papers.load_table("wmt21", 4)[:-1]
    assert [row["int8_paper"] for row in rows] == list(printed["seconds_ours_8bit"])


def test_a_setting_timed_twice_is_refused():
    twice = 2 * [speed("small/unpruned/log4", "float16", False, 32, 100.0)]
    with pytest.raises(InputError, match="log4 was timed twice in float16 with batches of 32"):
        TABLES[-1].build(Results({}, gpu_speeds=twice))


def test_the_papers_numbers_alone():
    rows = read(TABLES[-1].build(Results({}, gpu_speeds=[])))
    assert len(rows) == len(papers.load_table("wmt21", 4)) - 1


def test_bleu_of_what_was_timed_stands_beside_the_papers():
    """The paper's last row is its BLEU for all batches; our BLEU is the mean over test sets for the same batch."""
    speeds = [
        speed("small/unpruned/float32", "float32", False, 32, 100.0, {"a": 20.0, "b": 30.0}),
        speed("small/unpruned/float32", "float16", False, 32, 200.0, {"a": 20.0, "b": 29.6}),
        speed("small/unpruned/float32", "float16", False, 64, 200.0),  # a text without test sets
        speed("small/unpruned/int8", "int8", False, 32, 400.0, {"a": 22.0, "b": 30.0}),
    ]
    table = TABLES[-1].build(Results({}, gpu_speeds=speeds))
    rows = {(row["variant"], row["batch"]): row for row in read(table)}
    half, tuned = (rows[f"small/unpruned/{name}", "32"] for name in ("float32", "int8"))
    assert (half["bleu_float32_ours"], half["bleu_float32_ours_delta"]) == ("25.00", "")
    assert (half["bleu_float16_ours"], half["bleu_float16_ours_delta"]) == ("24.80", "-0.20")
    assert (tuned["bleu_int8_ours"], tuned["bleu_int8_ours_delta"]) == ("26.00", "+1.00")
    assert (half["bleu_float32_paper"], half["bleu_float32_paper_delta"]) == ("33.48", "")
    assert (half["bleu_float16_paper"], half["bleu_float16_paper_delta"]) == ("33.42", "-0.06")
    assert (tuned["bleu_int8_paper"], tuned["bleu_int8_paper_delta"]) == ("33.26", "-0.22")
    assert (half["bleu_int8_ours"], half["bleu_int8_paper"]) == ("", "")
    other = rows["small/unpruned/float32", "64"]
    assert (other["bleu_float16_ours"], other["bleu_float16_paper"]) == ("", "33.42")
    assert any("A dash: not measured" in note for note in table.notes)
    assert any(
        "1,000 source words in 10 sentences. BLEU of a, b: nrefs:1." in n for n in table.notes
    )
