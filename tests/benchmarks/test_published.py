"""Ratios to published figures, computed by hand."""

from dataclasses import asdict

import pytest

from weebill.benchmarks import Row
from weebill.benchmarks.published import changes, read_survey
from weebill.benchmarks.survey import Survey
from weebill.errors import InputError
from weebill.files import write_json


def survey(*rows: Row, hardware="this") -> Survey:
    listed = [{"benchmark": "search", "key": row.key, **row.to_dict()} for row in rows]
    return Survey(3, {"hardware": hardware}, listed)


def row(ours, unit="words/s", key="beam 4"):
    return Row.of_rounds("a claim of today", ours, [10.0, 10.0, 10.0], unit, key=key)


def test_ratios_and_the_interval_of_their_change():
    [line] = changes(survey(row([18.0, 20.0, 22.0])), survey(row([8.0, 10.0, 16.0])))
    assert line == (
        "search, beam 4, words/s: ratio 2.00 (1.80 to 2.20), published 1.00 (0.80 to 1.60); "
        "changed by 2.00 (1.12 to 2.75), ours alone by 2.00"
    )


@pytest.mark.parametrize(
    ("now", "unit", "loss"),
    [(9.4, "words/s", True), (9.6, "words/s", False), (10.6, "ms", True), (9.4, "MiB", False)],
)
def test_a_loss_is_named(now, unit, loss):
    [line] = changes(survey(row([now] * 3, unit)), survey(row([10.0] * 3, unit)))
    assert line.endswith("; a loss over 5%") == loss


def test_figures_of_one_side_alone_and_of_other_hardware():
    found = survey(row([10.0] * 3, key="a"), row([10.0] * 3, key="new"))
    published = survey(row([10.0] * 3, key="a"), row([10.0] * 3, key="old"), hardware="that")
    machine, same, new, old = changes(found, published)
    assert "another machine (that)" in machine and "alone" not in same
    assert new.endswith("not published yet") and "search, new" in new
    assert old == "search, old, words/s: published ratio 1.00 (1.00 to 1.00), not measured now"


def test_a_file_is_read_as_it_was_written(tmp_path):
    path, found = tmp_path / "benchmarks.json", survey(row([18.0, 20.0, 22.0]))
    write_json(path, asdict(found))
    assert read_survey(path) == found
    wrong = asdict(found)
    wrong["rows"][0]["ours"] = "fast"
    for spoilt in ({"rounds": 3, "rows": [{}]}, asdict(found) | {"signature": {}}, [1], wrong):
        write_json(path, spoilt)
        with pytest.raises(InputError, match="holds no figures of benchmarks"):
            read_survey(path)
