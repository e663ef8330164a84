"""The end of a run's output names the failed jobs, shows the ends of their logs, and says what to do next."""

import pytest

from weebill.workflow.terminal.course import Course, Job, duration
from weebill.workflow.terminal.ending import LINES, ending, tail


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5900, "98 min"), (7500, "2 h 5 min")],
)
def test_durations_have_two_digits_or_so(seconds, words):
    assert duration(seconds) == words


def test_the_last_lines_of_a_log(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("\n".join(["start", *map(str, range(100)), " 1%|\r100%|done", "", ""]))
    said = list(tail([str(log), str(tmp_path / "none.log")]))
    assert said[0] == f"  log: {log}; its last lines:"
    assert said[1:-1] == [f"    {line}" for line in [*range(100 - LINES + 1, 100), "100%|done"]]
    assert said[-1].endswith("none.log (empty or missing)")
    assert list(tail([])) == ["  this job writes no log"]


def course(**more) -> Course:
    made = Course(started=True, **more)
    made.plan({"train_student": 2, "total": 2})
    return made


def test_a_whole_run():
    assert [line for _, line in ending(course(done=2), False)] == ["All 2 jobs done in 0 s."]
    assert not list(ending(Course(), True))  # there was nothing to do


def test_a_failed_and_a_stopped_run():
    made, job = course(done=1), Job(1, "train_student", "demo.tiny", ["a.log"], 1)
    made.begin(job)
    *_, unfinished, advice = (line for _, line in ending(made, True))
    assert unfinished == "Not finished: train student demo.tiny (0 s so far)"
    assert advice == "1 of 2 jobs done and kept. The same command continues where this run ended."
    made.fail(job)
    _, failed, advice = (line for _, line in ending(made, False))
    assert failed == "Failed: train student demo.tiny (rule train_student); log: a.log"
    assert "Mend the cause; then the same command continues" in advice
