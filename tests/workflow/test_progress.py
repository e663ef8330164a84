"""A job writes its progress to a file only if somebody listens; faults of the disk do not disturb it."""

import threading

import pytest

from weebill.workflow import progress
from weebill.workflow.progress import Progress, counter, listen, read, tell, telling

LOG = "results/logs/train.log"


@pytest.fixture
def clock(monkeypatch, tmp_path):
    """Return a list with the clock's time, which a test may set; results are written below `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "_stages", {})
    return now


def test_nothing_is_written_if_nobody_listens(clock, tmp_path):
    with telling(LOG):
        tell(1, 2, "updates")
    assert not list(tmp_path.iterdir())


def test_the_time_left_follows_from_the_speed_since_the_job_began(clock):
    """A training resumes at update 100 of 1000 and makes 4 updates a second; at update 200 it needs 200 s more."""
    listen(LOG)
    with telling(LOG):
        tell(100, 1000, "updates")
        assert read(LOG) == Progress(100, 1000, "updates")
        clock[0] = 25.0
        tell(200, 1000, "updates", "loss 2.00")
        assert read(LOG) == Progress(200, 1000, "updates", "loss 2.00", left=200.0)
        clock[0] = 25.5
        tell(202, 1000, "updates")
        assert read(LOG).done == 200  # written at most once a second
        tell(1000, 1000, "updates")
        assert read(LOG).done == 1000
        clock[0] = 30.0
        tell(1, 1000, "updates")  # another training of the same job
        assert read(LOG).left is None
        assert read("results/logs/other.log") is None
    assert read(LOG) is None


def test_a_counter_adds_in_threads(clock):
    listen(LOG)
    with telling(LOG):
        add = counter(4000, "sentences", 1000)
        threads = [threading.Thread(target=lambda: [add(1) for _ in range(1000)]) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert read(LOG).done == 4000


def test_a_job_works_on_where_progress_cannot_be_written(clock):
    folder = listen(LOG)
    with telling(LOG):
        folder.rmdir()
        tell(1, 2, "updates")
    assert not folder.exists()


def test_a_listener_forgets_what_killed_jobs_told(clock):
    """The listener keeps the progress of another run's jobs in the same folder."""
    listen(LOG)
    with telling(LOG):
        tell(1, 2, "updates")
        listen("results/other/logs/a.log")
        assert read(LOG) is not None
        listen(LOG)
        assert read(LOG) is None
