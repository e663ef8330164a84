"""Hashes of git trees, compared with git's own."""

import hashlib
import io
import random
import shutil
import subprocess
import tarfile

import pytest

from weebill.corpus.origins.git_tree import git_tree, tree_hash
from weebill.errors import InputError

FILES = {
    "News/a/1.txt": b"one\n",
    "News/a.txt": b"a dot sorts before the slash of a folder\n",
    "News/b.sh": b"#!/bin/sh\n",
    "Other/ü.txt": b"two\n",
}


@pytest.fixture
def folder(tmp_path):
    """Write the files; b.sh is executable."""
    for name, data in FILES.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return tmp_path / "repository"


@pytest.fixture
def tree(folder):
    """Return git's own hash of the tree."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    found = subprocess.run(
        ["git", "write-tree"], cwd=folder, check=True, capture_output=True, text=True
    )
    shutil.rmtree(folder / ".git")
    return found.stdout.strip()


def test_equals_git(tree):
    modes = {name: "100755" if name.endswith(".sh") else "100644" for name in FILES}
    assert tree_hash({name: (modes[name], data) for name, data in FILES.items()}) == tree


def test_files_of_an_archive(tmp_path, folder, tree):
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(folder, "project-1/data")
        archive.add(__file__, "project-1/elsewhere.py")
    assert git_tree(tmp_path / "all.tar.gz", "News", tree) == FILES
    with pytest.raises(InputError, match=f"have the git tree {tree}, expected 0000"):
        git_tree(tmp_path / "all.tar.gz", "News", "0000")
    with pytest.raises(InputError, match="has no folder 'Sport'"):
        git_tree(tmp_path / "all.tar.gz", "Sport", tree)
    cut = (tmp_path / "all.tar.gz").read_bytes()[:-100]
    (tmp_path / "cut.tar.gz").write_bytes(cut)
    with pytest.raises(InputError, match=r"cut\.tar\.gz: damaged or truncated"):
        git_tree(tmp_path / "cut.tar.gz", "News", tree)


def test_names_that_are_not_utf8_are_those_of_git(folder, tmp_path):
    """The expected tree has, in git's bytes, the file 'a' and a file with the byte FF as its name."""
    blob = hashlib.sha1(b"blob 0\0").digest()
    content = b"".join(b"100644 " + name + b"\0" + blob for name in (b"a", b"\xff"))
    expected = hashlib.sha1(b"tree %d\0" % len(content) + content).hexdigest()
    assert tree_hash({"a": ("100644", b""), "\udcff": ("100644", b"")}) == expected


@pytest.mark.parametrize("damaged", ["xz", "deep"])
def test_a_bad_archive_in_the_cache_is_to_be_removed(tmp_path, damaged):
    path = tmp_path / ("0" * 32) / "all.tar.xz"
    path.parent.mkdir()
    (path.parent / ".lock").touch()
    name = "News/" + "a/" * 3000 + "b" if damaged == "deep" else "News/a"
    with tarfile.open(path, "w:xz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 100_000
        archive.addfile(member, io.BytesIO(random.Random(1).randbytes(member.size)))
    if damaged == "xz":
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.raises(InputError, match=r"all\.tar\.xz: .*; remove .*/all\.tar\.xz and run again"):
        git_tree(path, "News", "0000")
