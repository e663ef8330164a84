"""The timer: the order of measurements, counted rounds, and cores."""

import os

from weebill.evaluation.timing.timer import in_turn, pinned, rates_in_turn, seconds_in_turn


def test_rounds_alternate_and_the_first_is_not_counted():
    calls, seconds = [], iter(range(100))
    works = {name: lambda name=name: calls.append(name) for name in ("ours", "other")}
    clock = lambda: next(seconds)  # noqa: E731
    assert rates_in_turn(works, 10.0, 3, clock) == {"ours": [10.0] * 3, "other": [10.0] * 3}
    assert calls == ["other", "ours", "ours", "other", "other", "ours", "ours", "other"]


def test_every_work_begins_a_round_in_its_turn():
    calls = []
    works = {name: lambda name=name: calls.append(name) for name in "abc"}
    seconds = seconds_in_turn(works, 3)
    assert [len(of_one) for of_one in seconds.values()] == [3, 3, 3]
    assert ["".join(calls[i : i + 3]) for i in range(0, 12, 3)] == ["bca", "cab", "abc", "bca"]


def test_each_figure_is_told_when_it_is_found():
    """Figures are reported in the order of measurement; uncounted rounds are not reported."""
    figures, told = iter(range(10)), []
    measures = {name: lambda: next(figures) for name in "ab"}
    found = in_turn(measures, 2, told=lambda *given: told.append(given))
    assert found == {"a": [0, 3], "b": [1, 2]}
    first, second = "round 1 of 2", "round 2 of 2"
    assert told == [(first, "a", 0), (first, "b", 1), (second, "b", 2), (second, "a", 3)]
    told.clear()
    in_turn(measures, 1, uncounted=1, told=lambda *given: told.append(given))
    assert [(place, name) for place, name, _ in told] == [
        ("round 1 of 1", "a"),
        ("round 1 of 1", "b"),
    ]


def test_work_is_done_on_one_core_by_its_own_clock():
    cores, readings = [], iter([0.0, 1.0, 1.0, 5.0])
    work = lambda: cores.append(len(os.sched_getaffinity(0)))  # noqa: E731
    assert seconds_in_turn({"x": work}, 1, lambda: next(readings)) == {"x": [4.0]}
    assert cores == [1, 1]


def test_pinned_to_one_core_and_back():
    before = os.sched_getaffinity(0)
    with pinned():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
