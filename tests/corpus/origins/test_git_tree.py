"""Trees of git against git itself."""

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
    """Write the files; b.sh may be executed."""
    for name, data in FILES.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return tmp_path / "repository"


@pytest.fixture
def tree(folder):
    """Return git's own name of the tree."""
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
    with pytest.raises(InputError, match=r"cut\.tar\.gz: damaged archive"):
        git_tree(tmp_path / "cut.tar.gz", "News", tree)
