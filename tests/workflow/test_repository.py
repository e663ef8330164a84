"""The commit of a checkout, which measurements record."""

import subprocess

import pytest

from weebill.workflow.repository import RESULTS, commit


@pytest.fixture
def checkout(tmp_path):
    def git(*words):
        names = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *names, *words], cwd=tmp_path, check=True, capture_output=True)

    for name in ("code.py", f"{RESULTS}/page.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "One")
    return tmp_path


def test_other_code_is_told_other_results_and_new_files_are_not(checkout):
    clean = commit(checkout)
    assert len(clean) == 40
    (checkout / RESULTS / "page.md").unlink()
    (checkout / "new.py").touch()
    assert commit(checkout) == clean
    (checkout / "code.py").write_text("other\n")
    assert commit(checkout) == f"{clean}-dirty"


def test_a_folder_without_commits_has_none(tmp_path):
    assert commit(tmp_path) is None
    subprocess.run(["git", "init"], cwd=tmp_path, check=True, capture_output=True)
    assert commit(tmp_path) is None
