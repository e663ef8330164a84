"""Texts for timing metrics: files that are read, and candidates made from them."""

import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.errors import InputError
from weebill.evaluation.timing.metric_speed import Text, measure_metrics
from weebill.experiment.metrics import CACHED, PLAIN, SORTED, SORTED_CACHED
from weebill.metric.folder import load_metric


@pytest.fixture
def files(tmp_path):
    names = ("source", "reference", "one", "two")
    for name in names:
        lines = [f"{name} says that {number}" for number in range(10)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [tmp_path / name for name in names]


@pytest.mark.parametrize(
    ("segments", "numbers"),
    [(None, range(10)), (3, (0, 3, 6)), (6, (0, 1, 3, 5, 6, 8)), (20, range(10))],
)
def test_segments_are_evenly_chosen_and_belong_together(files, segments, numbers):
    source, reference, *systems = files
    text = Text.read(source, reference, systems, segments)
    assert [line.split()[-1] for line in text.sources] == [str(number) for number in numbers]
    for lines in (text.references, *text.systems.values()):
        assert [line.split()[-1] for line in lines] == [str(number) for number in numbers]


def test_candidates_are_of_their_source(files):
    source, _, *systems = files
    found = Text.read(source, None, systems).candidates(2, 5)
    assert [one for one, _ in found] == ["source says that 0", "source says that 1"]
    for number, (_, translations) in enumerate(found):
        assert len(set(translations)) == 5
        assert translations[:2] == [f"one says that {number}", f"two says that {number}"]


def test_files_that_do_not_belong_together_are_named(files):
    source, reference, one, two = files
    with pytest.raises(InputError, match="one: named twice"):
        Text.read(source, reference, [one, two, one])
    two.write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"two: 2 lines, and .*source has 10"):
        Text.read(source, reference, [one, two], 2)
    source.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="source: has no lines"):
        Text.read(source, reference, [one])


def test_metrics_without_references_are_timed_too(tmp_path):
    kind = "referenceless_regression_metric"
    encoder = make_encoder(tmp_path / "encoder")
    metric = load_metric(make_checkpoint(tmp_path / "metric", encoder, class_identifier=kind))
    for references in (REFERENCES, None):  # the former for metrics that need references
        text = Text(SOURCES, references, SYSTEMS)
        candidates = [("A dog.", ["Ein Hund.", "Der Hund."])]
        options = {"precision": "float32", "rounds": 1}
        found = measure_metrics({"quality": metric}, text, candidates, (2,), **options)
        assert ("BLEU" in {one.metric for one in found}) == (references is not None)


def test_speeds_of_everything(tmp_path):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    text = Text(SOURCES, REFERENCES, SYSTEMS)
    candidates = [("A dog.", ["Ein Hund.", "Der Hund.", "Hund."])]
    found = measure_metrics(
        {"whole": metric}, text, candidates, (2, 3), precision="float32", rounds=2
    )
    assert {(one.study, one.amount) for one in found if one.metric == "whole"} == {
        *(("systems", count) for count in (1, 2)),
        *(("segments", count) for count in (1, 3, 4, 6)),
        *(("candidates", count) for count in (2, 3)),
    }
    assert {one.way for one in found if one.study == "systems" and one.metric == "whole"} == {
        *(PLAIN, SORTED, CACHED, SORTED_CACHED),
        "ours, float32",
    }
    assert all(len(one.seconds) == 2 and min(one.seconds) > 0 for one in found)
