"""Results are read from a rule's input files, by the names of the fields."""

import json
from dataclasses import asdict

from tests.report.conftest import measurement, size
from tests.report.metric_results import agreement
from weebill.evaluation.measurement import Variant
from weebill.evaluation.size.metric_size import MetricSize
from weebill.report.results import Results

VARIANT = Variant("small", "unpruned", "float32")


def written(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return str(path)


def test_rows_of_all_files_in_their_order(tmp_path):
    """A file has one row or several; inputs of other kinds are skipped."""
    qualities = [measurement(VARIANT, name, "BLEU", 30.0) for name in ("first", "second")]
    sizes = [size(VARIANT, 60.0, (8, 8)), size(Variant("other", "unpruned", "int8"), 15.0, (4,))]
    files = {
        "qualities": [written(tmp_path / "q.json", [asdict(one) for one in qualities])],
        "sizes": [written(tmp_path / f"{i}.json", asdict(one)) for i, one in enumerate(sizes)],
        "pictures": ["front.svg"],
    }
    results = Results.read({"kind": "translation"}, files)
    assert [asdict(one) for one in results.qualities] == [asdict(one) for one in qualities]
    assert [one.variant for one in results.sizes] == [one.variant for one in sizes]
    assert results.size(VARIANT).parameters == sizes[0].parameters
    assert results.size("other/unpruned/float32") is None
    assert not results.speeds


def test_the_kind_of_experiment_decides_what_rows_are(tmp_path):
    one, whole = (
        agreement("reference", 0.5, None),
        MetricSize("reference", 9, 36, 2, [1.0], "a" * 64),
    )
    files = {
        "qualities": [written(tmp_path / "a.json", [asdict(one)])],
        "sizes": [written(tmp_path / "s.json", asdict(whole))],
    }
    results = Results.read({"kind": "metric"}, files)
    assert results.qualities == [one] and results.size("reference") == whole


def test_courses_are_those_of_the_model_folders(tmp_path):
    history = [{"update": 10, "bleu": 3.0}]
    folder = tmp_path / "small/unpruned/float32"
    written(folder / "config.json", {"lineage": {"course": {"history": history}}})
    results = Results.read({"kind": "translation"}, {"students": [str(folder)]})
    assert results.students == [(folder, history)]


def test_errors_of_activation_scales_are_of_a_student_and_recipe(tmp_path):
    row = {
        "map": "output",
        "activation_scale": "mean-of-scales",
        "values": 9,
        "clipped": 0,
        "squares": 4.0,
        "squared_error": 1.0,
    }
    path = written(tmp_path / "activation_error/small/pushy.json", [row])
    [(source, [error])] = Results.read(
        {"kind": "translation"}, {"scale_errors": [path]}
    ).scale_errors
    assert source == "small/pushy" and error.relative == 0.25
