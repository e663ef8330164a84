"""The figure of GPU speeds: a point for each timed batch size, with rounds and BLEU."""

from dataclasses import replace

from tests.report.conftest import gpu_speed as speed
from weebill.report.figures.drawing import save
from weebill.report.figures.gpu import speed_by_batch
from weebill.report.results import Results
from weebill.report.tables.speeds import gpu_table


def test_every_timing_of_a_whole_text_is_a_point():
    half = speed("small/unpruned/float32", "float16", True, 32, 500.0, {"a": 20.0, "b": 30.0})
    speeds = [
        speed("small/unpruned/float32", "float32", False, 1, 9.0),  # latency of a few sentences
        replace(half, seconds=[2.0, 4.0, 1.6]),
        speed("small/unpruned/int8", "int8", False, 64, 100.0),
    ]
    spec = speed_by_batch(Results({}, gpu_speeds=speeds)).to_dict()
    [rows] = spec["datasets"].values()
    assert rows == [
        {
            "variant": "small/unpruned/float32",
            "numbers": "float16",
            "shortlist": "yes",
            "batch": 32,
            "words": 500.0,
            "slowest": 250.0,
            "fastest": 625.0,
            "bleu": "25.00",
        },
        {
            "variant": "small/unpruned/int8",
            "numbers": "int8",
            "shortlist": "no",
            "batch": 64,
            "words": 100.0,
            "slowest": 1000.0,
            "fastest": 1000.0,
            "bleu": "not measured",
        },
    ]
    assert spec["facet"]["sort"] == ["small/unpruned/float32", "small/unpruned/int8"]


def test_sentences_one_by_one_alone_or_nothing_that_fits_make_an_empty_figure(tmp_path):
    one = speed("small/unpruned/float32", "float32", False, 1, 9.0)
    for name, speeds in (("one", [one]), ("none", [])):
        results = Results({"experiment": "example"}, gpu_speeds=speeds)
        save(speed_by_batch(results), tmp_path, name)
        assert "Speed on a GPU" in (tmp_path / f"{name}.svg").read_text()
        notes = " ".join(gpu_table(results).notes)
        assert ("memory held no student" in notes) == (not speeds)
