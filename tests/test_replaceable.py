"""A folder is replaced only if it contains nothing but an earlier result: no user's file is deleted."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from weebill.errors import InputError
from weebill.files import atomic_folder, move_folder
from weebill.replaceable import FolderKind, check_replaceable, has_keys

KIND = FolderKind(
    always=("config.json", "weights"),
    perhaps=("part-[0-9].txt", "encoder/*.json"),
    mark=("config.json", lambda file: has_keys(file, {"ours"})),
)


@pytest.fixture
def ours(tmp_path):
    folder = tmp_path / "model"
    with atomic_folder(folder, KIND) as made:
        (made / "config.json").write_text('{"ours": 1}')
        (made / "weights").write_text("old")
        (made / "part-1.txt").write_text("old")
        (made / "encoder").mkdir()
        (made / "encoder/config.json").write_text("{}")
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def replace(folder, kind=KIND):
    with atomic_folder(folder, kind) as made:
        (made / "config.json").write_text('{"ours": 2}')
        (made / "weights").write_text("new")


def test_an_earlier_result_is_replaced_whole(ours):
    (ours / ".snakemake_timestamp").touch()
    replace(ours)
    assert contents(ours) == {"config.json": b'{"ours": 2}', "weights": b"new"}
    assert [path.name for path in ours.parent.iterdir()] == ["model"]


def test_an_empty_folder_is_replaced_also_without_a_kind(tmp_path):
    (tmp_path / "model").mkdir()
    replace(tmp_path / "model", None)
    with pytest.raises(InputError, match=r"model: holds 'config\.json', which would be deleted"):
        replace(tmp_path / "model", None)


def _file(name):
    def put(folder):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")

    return put


def _socket(folder):
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(folder)  # sockets need short paths
        try:
            one.bind("weights.sock")
        finally:
            os.chdir(here)


MINE = {
    "thesis.tex": _file("thesis.tex"),
    ".notes": _file(".notes"),
    ".git": _file(".git/HEAD"),
    "WEIGHTS": _file("WEIGHTS"),
    "weights.bak": _file("weights.bak"),
    "part-10.txt": _file("part-10.txt"),
    "chapters": lambda folder: (folder / "chapters").mkdir(),
    "encoder/notes.txt": _file("encoder/notes.txt"),
    "encoder/deep": _file("encoder/deep/config.json"),
    "part-2.txt": lambda folder: (folder / "part-2.txt").symlink_to(folder / "weights"),
    "part-3.txt": lambda folder: (folder / "part-3.txt").mkdir(),
    "part-4.txt": lambda folder: os.mkfifo(folder / "part-4.txt"),
    "weights.sock": _socket,
}


@pytest.mark.parametrize("entry", MINE)
def test_anything_of_a_user_is_refused_and_kept(ours, entry):
    MINE[entry](ours)
    before = contents(ours)
    line = f"{ours}: holds '{entry}', which would be deleted; name a new folder, or move that elsewhere"
    with pytest.raises(InputError) as found:
        replace(ours)
    assert str(found.value) == line
    with pytest.raises(InputError, match="would be deleted"):
        move_folder(ours.parent / "made", ours, KIND)  # fails before "made" is read
    assert contents(ours) == before
    assert [path.name for path in ours.parent.iterdir()] == ["model"]


def test_what_a_user_adds_meanwhile_is_kept(ours):
    with pytest.raises(InputError, match=r"holds 'thesis\.tex'"), atomic_folder(ours, KIND) as made:
        (made / "weights").write_text("new")
        (ours / "thesis.tex").write_text("mine")
    assert (ours / "thesis.tex").exists() and (ours / "weights").read_text() == "old"


@pytest.mark.parametrize("config", ['{"theirs": 1}', "[]", "{", "\xff", "[" * 100_000])
def test_equal_names_of_another_program_are_no_earlier_result(ours, config):
    (ours / "config.json").write_text(config, encoding="latin-1")
    with pytest.raises(InputError, match=r"holds 'config\.json', which Weebill did not write"):
        replace(ours)
    assert (ours / "weights").read_text() == "old"


def test_a_part_of_a_result_is_no_earlier_result(ours):
    (ours / "config.json").unlink()
    with pytest.raises(InputError, match=r"holds 'encoder' and no 'config\.json', so it is no"):
        replace(ours)
    assert (ours / "weights").read_text() == "old"


def test_places_where_no_folder_can_be_made(ours, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(ours)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    (tmp_path / "below/work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "below/work")
    refused = {
        tmp_path / "link": "a link; name the folder it leads to",
        f"{tmp_path}/link/": "a link; name the folder it leads to",
        tmp_path / "dangling": "a link; name the folder it leads to",
        tmp_path / "loop": "not the path of a folder",
        tmp_path / "loop/model": "not the path of a folder|cannot be made",
        tmp_path / "file": "not a folder; name a new folder",
        tmp_path / "file/model": "cannot be made",
        tmp_path / ("n" * 300): "cannot be made|not the path of a folder",
        "a\0b": "not the path of a folder",
        ".": "is or holds the present folder",
        "": "is or holds the present folder",
        "..": "is or holds the present folder",
        "../work": "is or holds the present folder",
        "/": "is or holds the present folder",
        "/proc": "a mount point, which stays",
        "/proc/model": "cannot be made",
    }
    for path, line in refused.items():
        with pytest.raises(InputError, match=line) as found:
            replace(path)
        assert "\n" not in str(found.value) and "; name" in str(found.value)
    assert (ours / "weights").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "below", "dangling", "file", "link", "loop", "model",
    ]  # fmt: skip


def test_a_mount_of_the_same_disk_is_told(ours, tmp_path):
    place = tmp_path / "mounted"
    place.mkdir()
    mount = subprocess.run(["mount", "--bind", ours, place], capture_output=True)
    if mount.returncode:
        pytest.skip("needs the right to mount a folder")
    try:
        with pytest.raises(InputError, match="a mount point, which stays; name a new folder in it"):
            replace(place)
        assert (place / "weights").read_text() == "old"
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_folder_that_cannot_be_written(ours, monkeypatch):
    monkeypatch.setattr("os.access", lambda *arguments: False)  # root may write to all folders
    with pytest.raises(InputError, match="permission denied; name a folder that can be read and"):
        check_replaceable(ours, KIND)


def test_a_kind_without_a_record_needs_its_names(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    shards = FolderKind(perhaps=("part-[0-9].txt",))
    (folder / "part-1.txt").write_text(json.dumps(1))
    assert check_replaceable(folder, shards) == folder
    (folder / "part-1.txt.bak").touch()
    with pytest.raises(InputError, match=r"holds 'part-1\.txt\.bak'"):
        check_replaceable(folder, shards)
