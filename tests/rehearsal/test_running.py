"""Comparison of the rules of two runs."""

from weebill.rehearsal.running import compared, told


def test_equal_rules_are_equal_whatever_their_jobs():
    assert compared({"train": 6, "pages": 1}, {"pages": 1, "train": 2}) == ""


def test_what_one_run_lacks_is_named():
    found = compared({"train": 6, "prune": 2}, {"train": 1, "extra": 1})
    assert "lacks the rules prune" in found and "further rules extra" in found


def test_the_table_has_every_rule_and_the_sums():
    lines = list(told({"train": 1200, "prune": 2}, {"train": 3, "prune": 1}))
    assert any(line.split() == ["train", "1,200", "3"] for line in lines)
    assert lines[-1] == "2 rules and 2 in the miniature; jobs: 1,202 and 4"
