"""Temporary files of running makers stay, even if process numbers come from another container."""

import os
import subprocess
import sys
import time

import psutil

from weebill import processes
from weebill.files import atomic_folder, atomic_path
from weebill.processes import LEFT_AFTER, is_left, maker_mark


def ended_process() -> int:
    """Return the number of a process that has ended."""
    run = subprocess.Popen([sys.executable, "-c", ""])
    run.wait()
    return run.pid


def test_marks_of_this_machine(tmp_path):
    own = maker_mark()
    place = own.partition("-")[2]
    assert is_left(own, tmp_path) and is_left(str(os.getpid()), tmp_path)
    assert not is_left(f"{os.getppid()}-{place}", tmp_path)
    assert is_left(f"{ended_process()}-{place}", tmp_path)
    assert not is_left("1-x", tmp_path) and not is_left("", tmp_path)


def test_a_maker_that_nobody_waited_for_has_ended(tmp_path):
    run = subprocess.Popen([sys.executable, "-c", ""])
    zombie = psutil.Process(run.pid)
    while zombie.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert is_left(f"{run.pid}-{maker_mark().partition('-')[2]}", tmp_path)
    run.wait()


def test_two_containers_with_equal_process_numbers(tmp_path, monkeypatch):
    with atomic_path(tmp_path / "file") as first, atomic_folder(tmp_path / "folder") as other:
        first.write_text("first")
        (other / "one").write_text("first")
        monkeypatch.setattr(processes, "machine", lambda: "another container")
        with atomic_path(tmp_path / "file") as second, atomic_folder(tmp_path / "folder"):
            assert second != first and first.exists() and (other / "one").exists()
            second.write_text("second")
        monkeypatch.undo()
    assert (tmp_path / "file").read_text() == "first"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_what_another_machine_left_goes_after_a_day(tmp_path):
    left = tmp_path / f".file.partial-{ended_process()}-0123abcd"
    left.mkdir()
    (left / "part").write_text("")
    with atomic_path(tmp_path / "file") as partial:
        partial.write_text("a")
    assert left.exists()
    before = time.time() - LEFT_AFTER - 5
    for path in (left / "part", left):
        os.utime(path, (before, before))
    with atomic_path(tmp_path / "file") as partial:
        partial.write_text("b")
    assert not left.exists()
