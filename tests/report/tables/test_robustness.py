"""The table of robustness: shares in percent, a row for each metric and test set, and unmeasured values."""

from tests.report.conftest import read
from weebill.evaluation.quality.robustness import Robustness
from weebill.report.results import Results
from weebill.report.tables.robustness import robustness_table


def one(metric, damage, noticed, drop, test_set="news"):
    shares = {"noticed": noticed, "noticed_low": noticed - 0.05, "noticed_high": noticed + 0.05}
    drops = {"drop": drop, "drop_low": drop - 0.1, "drop_high": drop + 0.1}
    more = {"signature": "s", "test_set_sha256": "0" * 64, "resamples": 40, "seed": 1, "versions": {}}  # fmt: skip
    return Robustness(metric, test_set, damage, 1200, **shares, **drops, **more)


def test_each_damage_has_its_columns():
    rows = [
        one("reference", "number", 0.875, 0.31),
        one("reference", "word", 0.99, 1.2),
        one("small", "number", 0.525, -0.01),
    ]
    table = robustness_table(Results({}, robustness=rows))
    reference, small = read(table)
    assert (reference["metric"], reference["test_set"]) == ("reference", "news")
    assert (reference["number_noticed"], reference["number_low"]) == ("87.5", "82.5")
    assert (reference["number_drop"], reference["word_drop"]) == ("0.31", "1.20")
    assert reference["name_noticed"] == "" and small["word_noticed"] == ""
    assert (small["number_high"], small["number_drop"]) == ("57.5", "-0.01")
    assert [row.kind for row in table.rows] == ["baseline", "plain"]
    assert table.notes == [
        "news: translations 1,200 with a changed number, none that allows a changed name, 1,200 with a word left out."
    ]
