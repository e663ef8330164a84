"""The time left comes from the estimate before the first job, and from measured jobs afterwards."""

import pytest

from weebill.workflow.terminal import time_left as module
from weebill.workflow.terminal.time_left import START, Known, expect, time_left


@pytest.fixture(autouse=True)
def unknown(monkeypatch):
    monkeypatch.setattr(module, "_expected", [])


def test_nothing_is_said_without_an_estimate():
    assert time_left({"train": 1}, {}, [], 2) is None


def test_the_work_is_divided_by_the_cores_but_not_below_the_longest_chain():
    expect({("train",): 600.0, ("translate",): 200.0}, chain=100.0)
    jobs = {"train": 2, "translate": 4}
    assert time_left(jobs, {}, [], 2) == 400.0
    assert time_left(jobs, {}, [], 100) == 100.0


def test_measured_jobs_replace_the_estimate():
    """One of two trainings took half as long as estimated, so the other is expected to do so too."""
    expect({("train",): 600.0}, chain=0.0)
    assert time_left({"train": 1}, {"train": [150.0]}, [], 1) == 150.0


def test_a_running_job_counts_by_what_it_says():
    expect({("train",): 600.0}, chain=0.0)
    known = Known("train", threads=2, seconds=10.0, left=40.0)
    assert time_left({"train": 1}, {}, [known], 2) == 40.0
    assert time_left({"train": 1}, {}, [known._replace(left=None)], 2) == 290.0
    assert time_left({"train": 1}, {}, [known._replace(seconds=999.0, left=None)], 2) == 0.0


def test_other_jobs_take_their_start():
    expect({("train",): 600.0}, chain=0.0)
    assert time_left({"table": 4}, {}, [], 2) == 2 * START


def test_on_a_cluster_later_jobs_run_side_by_side_like_those_now():
    expect({("train",): 600.0}, chain=0.0)
    known = Known("train", threads=3, seconds=0.0, left=None)
    assert time_left({"train": 2}, {}, [known, known], None) == 100.0
