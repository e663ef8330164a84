"""Finished work is on the disk: files are synced before renaming, and names before the writer continues."""

import errno
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.small_models import make_folder, make_vocabulary
from weebill import durable
from weebill.corpus.table import SCHEMA, ShardWriter
from weebill.durable import make_folders, put_in_place, sync, sync_tree
from weebill.files import atomic_folder, atomic_path, move_folder, remove_folder
from weebill.replaceable import FolderKind

OLD = FolderKind(perhaps=("old",))


class Disk:
    """State of the disk after a power loss: each file and folder as last synced, by inode.

    Every renaming is checked: all content with the new name must have been synced in its present state.
    """

    def __init__(self, monkeypatch):
        self.synced, self.placed = {}, []
        fsync = os.fsync

        def watched_sync(descriptor):
            fsync(descriptor)
            self.synced[os.fstat(descriptor).st_ino] = self.state(f"/proc/self/fd/{descriptor}")

        monkeypatch.setattr(os, "fsync", watched_sync)
        monkeypatch.setattr(os, "replace", self.watched(os.replace))
        monkeypatch.setattr(durable, "_exchange", self.watched(durable._exchange))

    @staticmethod
    def state(path):
        found = Path(path).stat()
        return found.st_mtime_ns, found.st_size

    def watched(self, rename):
        def renamed(source, target):
            if not Path(target).name.startswith("."):  # the final name
                self.placed.append(Path(target))
                for path in [Path(source), *Path(source).rglob("*")]:
                    self.check(path)
            done = rename(source, target)
            parent = Path(target).parent.stat().st_ino
            self.synced.pop(parent, None)  # it has a new name
            return done

        return renamed

    def check(self, path):
        assert self.synced.get(path.stat().st_ino) == self.state(path), f"{path}: not synced"

    def check_all(self, *paths):
        """Check everything at some paths, and the names in their parent folders."""
        for path in paths:
            assert path in self.placed, f"{path}: not put in place by one renaming"
            for one in [path, *path.rglob("*")]:
                self.check(one)
            assert path.parent.stat().st_ino in self.synced, f"{path}: its name is not synced"


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def fill(folder):
    (folder / "a/b").mkdir(parents=True)
    (folder / "empty").mkdir()
    for name in ("one", "two", "a/three", "a/b/four", "a/b/.hidden"):
        (folder / name).write_text(name)


def test_a_folder_is_on_the_disk(tmp_path, disk):
    with atomic_folder(tmp_path / "above/it/model") as folder:
        fill(folder)
    disk.check_all(tmp_path / "above/it/model")
    disk.check(tmp_path / "above")  # parent folders are new too
    disk.check(tmp_path)


def test_a_folder_that_replaces_one_is_on_the_disk(tmp_path, disk):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/old").write_text("old")
    with atomic_folder(tmp_path / "model", OLD) as folder:
        fill(folder)
    disk.check_all(tmp_path / "model")


def test_a_folder_that_is_moved_is_on_the_disk(tmp_path, disk):
    fill(tmp_path / "work")
    move_folder(tmp_path / "work", tmp_path / "model")
    disk.check_all(tmp_path / "model")


def test_a_file_is_on_the_disk(tmp_path, disk):
    with atomic_path(tmp_path / "above/file") as path:
        path.write_text("text")
    disk.check_all(tmp_path / "above/file")
    disk.check(tmp_path)


def test_a_folder_that_goes_is_gone_from_the_disk(tmp_path, disk):
    fill(tmp_path / "work")
    remove_folder(tmp_path / "work")
    assert not list(tmp_path.iterdir()) and disk.synced.get(tmp_path.stat().st_ino)


def test_models_and_shards_are_on_the_disk(tmp_path, disk):
    vocabulary = make_vocabulary(tmp_path / "vocabulary.spm")
    make_folder(tmp_path / "model", vocabulary)
    row = {"source": ["a"], "target": ["b"], "corpus": ["c"], "row": [0], "dropped_by": [None]}
    with ShardWriter(tmp_path / "corpus", SCHEMA, shard_rows=1) as writer:
        for _ in range(20):
            writer.write(row)
    disk.check_all(tmp_path / "model", tmp_path / "corpus")


def test_a_file_forgotten_would_be_noticed(tmp_path, disk):
    fill(tmp_path / "made")
    sync_tree(tmp_path / "made")
    (tmp_path / "made/a/b/four").write_text("later")
    with pytest.raises(AssertionError, match="four: not synced"):
        os.replace(tmp_path / "made", tmp_path / "model")


def test_a_file_system_that_syncs_no_folders(tmp_path, monkeypatch):
    def fsync(descriptor):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    sync(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Invalid argument"):
        sync_tree(tmp_path)


def test_folders_that_are_there_stay(tmp_path):
    (tmp_path / "file").touch()
    make_folders(tmp_path / "a/b")
    make_folders(tmp_path / "a/b")
    with pytest.raises(NotADirectoryError):
        make_folders(tmp_path / "file/c")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_failure_in_the_middle_leaves_the_former_folder(tmp_path, monkeypatch, exchanges):
    """Each of the renamings fails in turn."""
    for failing in range(1 if exchanges else 2):
        for name in ("new", "place"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / name).touch()
        left = [failing]
        replace = os.replace

        def full(*paths, left=left, replace=replace):
            left[0] -= 1
            if left[0] == -1:
                raise OSError(errno.EIO, "Input/output error")
            replace(*paths)

        with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"):
            patch.setattr(os, "replace", full)
            patch.setattr(durable, "_exchange", full if exchanges else lambda *_: False)
            put_in_place(tmp_path / "new", tmp_path / "place", tmp_path / "aside")
        assert names(tmp_path) == ["new", "place"]
        assert names(tmp_path / "place") == ["place"] and names(tmp_path / "new") == ["new"]


KILLED = """
import os, signal, sys
from weebill import durable
from weebill.files import atomic_folder
from weebill.replaceable import FolderKind
left, replace = int(sys.argv[2]), os.replace
def killed(*paths):
    global left
    replace(*paths)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace, durable._exchange = killed, lambda *_: False
with atomic_folder(sys.argv[1], FolderKind(perhaps=("version",))) as folder:
    (folder / "version").write_text("new")
"""


@pytest.mark.parametrize(("renamings", "version"), [(1, "old"), (2, "new"), (3, "new")])
def test_a_kill_in_the_middle_leaves_either_folder(tmp_path, renamings, version):
    """If a file system cannot exchange names, the next writer undoes a first renaming of the old folder."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model/version").write_text("old")
    command = [sys.executable, "-c", KILLED, tmp_path / "model", str(renamings)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    with suppress(ZeroDivisionError), atomic_folder(tmp_path / "model", FolderKind(("version",))):
        raise ZeroDivisionError
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model/version").read_text() == version
