"""Files appear whole or not at all, even if the writing process is killed."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.mounting import mounted
from weebill.errors import InputError, explain
from weebill.files import (
    atomic_folder,
    atomic_path,
    claim_folder,
    content_hash,
    exclusive_folder,
    move_folder,
    read_json,
    remove_folder,
    unfinished_work,
    write_json,
)
from weebill.replaceable import FolderKind

KILLED = """
import os, signal, sys
from weebill.files import atomic_folder, atomic_path
with atomic_path(sys.argv[1] + "/file") as file, atomic_folder(sys.argv[1] + "/folder") as folder:
    file.write_text("half")
    (folder / "part").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path])
    left = sorted(path.name for path in tmp_path.iterdir())
    assert [name.split(".partial-")[0] for name in left] == [".file", ".folder"]
    with atomic_path(tmp_path / "file") as file, atomic_folder(tmp_path / "folder") as folder:
        file.write_text("whole")
        (folder / "part").write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "folder/part").read_text() == "whole"


def test_a_living_writer_is_left_alone(tmp_path):
    living = tmp_path / f".file.partial-{os.getppid()}"
    other = tmp_path / ".file.partial-of-notes"
    living.touch(), other.touch()
    with atomic_path(tmp_path / "file") as file:
        file.touch()
    assert living.exists() and other.exists()


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_text("before")
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "file") as file:
        file.write_text("after")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "before"


@pytest.mark.parametrize("whole", [atomic_path, atomic_folder])
@pytest.mark.parametrize("fault", ["written", "copied", "safetensors", "flushed", "quota"])
def test_a_full_disk_names_what_was_to_be_made(tmp_path, monkeypatch, whole, fault):
    """The original errors name no file or a partial one, or come from Rust."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    told = "quota is used up" if fault == "quota" else "is full"
    with mounted(tmp_path / "small", "size=64k") as place:
        with pytest.raises(Exception) as caught, whole("small/made") as partial:
            file = partial if whole is atomic_path else partial / "file"
            match fault:
                case "written":
                    file.write_bytes(b"x" * 100_000)
                case "copied":
                    shutil.copyfile(tmp_path / "large", file)
                case "safetensors":
                    save_file({"a": np.zeros(100_000, np.int8)}, file)
                case "flushed":
                    with file.open("w") as stream:
                        stream.write("x" * 70_000)
                case "quota":
                    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        assert explain(caught.value, "elsewhere").startswith(f"small/made: the disk {told}")
        assert not list(place.iterdir())


def test_a_full_disk_elsewhere_keeps_its_name(tmp_path):
    with pytest.raises(OSError, match="/other'") as caught, atomic_path(tmp_path / "made"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/other")
    assert caught.value.filename == "/other"


def test_a_link_stays_and_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with atomic_path(tmp_path / "link") as file:
        file.write_text("after")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "after"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: not a plain file"), atomic_path(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_folder_goes_at_one_stroke(tmp_path, monkeypatch):
    folder = tmp_path / "a.work"
    folder.mkdir()
    (folder / "identity.json").touch()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            remove_folder(folder)
    assert not folder.exists()
    folder.mkdir()
    remove_folder(folder)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def network_file_system(monkeypatch):
    """Keep removed files that are still open under another name, as NFS does."""
    unlink = os.unlink

    def is_open(path, dir_fd):
        found = os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
        for number in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(found, os.fstat(int(number.name))):
                    return True
        return False

    def remove(path, *, dir_fd=None):
        if not is_open(path, dir_fd):
            unlink(path, dir_fd=dir_fd)
        elif Path(path).name.startswith(".nfs"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        else:
            os.rename(path, Path(path).with_name(".nfs01"), src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    monkeypatch.setattr("os.unlink", remove)


def test_finished_work_goes_from_a_network_file_system(tmp_path, network_file_system):
    with unfinished_work(tmp_path / "a", {"seed": 1}) as work:
        (work / "part").touch()
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_open_elsewhere_stays_until_it_is_closed(tmp_path, network_file_system):
    folder = tmp_path / "work"
    folder.mkdir()
    with (folder / "mapped").open("w"):
        remove_folder(folder)
        assert not folder.exists()
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [".nfs01"]
    folder.mkdir()
    remove_folder(folder)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_removed_is_told(tmp_path, monkeypatch):
    def refuse(path, *, dir_fd=None):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    (tmp_path / "work").mkdir()
    (tmp_path / "work/file").touch()
    monkeypatch.setattr("os.unlink", refuse)
    with pytest.raises(PermissionError):
        remove_folder(tmp_path / "work")


def test_unfinished_work_is_kept_for_the_same_identity_only(tmp_path):
    output, left = tmp_path / "a", []
    for seed, fails in ((1, True), (1, True), (2, True), (2, False)):
        with suppress(InputError), unfinished_work(output, {"seed": seed}) as work:
            left.append((work / "part").exists())
            (work / "part").touch()
            if fails:
                raise InputError("stopped")
    assert left == [False, True, False, True]
    assert not list(tmp_path.iterdir())


def test_what_an_interrupted_removal_leaves_is_not_continued(tmp_path, monkeypatch):
    class Interrupted(Exception):
        pass

    def interrupt(*_arguments):
        raise Interrupted

    claim_folder(tmp_path, "identity.json", {"seed": 1}, keep=["encoded"])
    for name in ("checkpoints", "encoded"):
        (tmp_path / name).mkdir()
    with monkeypatch.context() as change, pytest.raises(Interrupted):
        change.setattr(shutil, "rmtree", interrupt)
        claim_folder(tmp_path, "identity.json", {"seed": 2}, keep=["encoded"])
    assert (tmp_path / "checkpoints").exists()
    claim_folder(tmp_path, "identity.json", {"seed": 1}, keep=["encoded"])
    assert {path.name for path in tmp_path.iterdir()} == {"identity.json", "encoded"}


@pytest.mark.parametrize("former", [False, True])
def test_a_made_folder_that_cannot_be_moved_stays(tmp_path, monkeypatch, former):
    made, output = tmp_path / "work", tmp_path / "output"
    made.mkdir()
    (made / "part").write_text("made")
    if former:
        output.mkdir()
        (output / "part").write_text("former")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("weebill.files.put_in_place", interrupted)
        move_folder(made, output, FolderKind(("part",)))
    assert (made / "part").read_text() == "made" and output.exists() == former
    move_folder(made, output, FolderKind(("part",)))
    assert (output / "part").read_text() == "made"
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


def test_contents_are_hashed_with_their_names(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("text")
    assert content_hash(tmp_path / "one") == content_hash(tmp_path / "two")
    (tmp_path / "two/a").rename(tmp_path / "two/b")
    assert content_hash(tmp_path / "one") != content_hash(tmp_path / "two")


def test_bad_json_names_its_file(tmp_path):
    path = Path(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"a\.json: no such file; check the path"):
        read_json(path)
    path.write_text("{")
    with pytest.raises(InputError, match=r"a\.json: not valid JSON .*; make it again"):
        read_json(path)


def test_who_waits_for_a_folder_holds_it_even_where_it_was_removed(tmp_path):
    """The process that waits makes the folder again, because the other removes its work folder at the end."""
    folder, waited = tmp_path / "work", threading.Event()

    def wait():
        with exclusive_folder(folder):
            write_json(folder / "note.json", 1)
            waited.set()

    with exclusive_folder(folder):
        other = threading.Thread(target=wait)
        other.start()
        assert not waited.wait(0.2)
        remove_folder(folder)
    other.join()
    assert waited.is_set() and read_json(folder / "note.json") == 1
