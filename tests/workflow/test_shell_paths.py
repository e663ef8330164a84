"""Unquoted paths of Python in shell commands: bash itself decides which paths work."""

import string
import subprocess

import pytest

from weebill.errors import InputError
from weebill.workflow.shell_paths import check_folder, check_python

NAMES = [f"a{character}b" for character in sorted({*string.printable, "ü", "日"} - {"/"})]
NAMES += ["my project (v1)", "a{b,c}d", "a{1..2}", "[ab]", "~a", "#a"]


def refusal(path: str) -> str | None:
    try:
        check_python(path)
    except InputError as error:
        return str(error)
    return None


def test_what_is_accepted_starts(tmp_path):
    started = set()
    for name in NAMES:
        python = tmp_path / name / "python"
        python.parent.mkdir()
        python.write_text('#!/bin/sh\nprintf "%s" "$0 $1"\n')
        python.chmod(0o755)
        done = subprocess.run(["bash", "-c", f"{python} x"], capture_output=True, text=True)
        if done.stdout == f"{python} x":
            started.add(name)
        else:
            assert refusal(str(python)), name
    assert {"a b", "a(b", "a'b", "a$b", "a&b", "a{b,c}d", "my project (v1)"}.isdisjoint(started)
    usual = [
        f"a{character}b" for character in f"{string.ascii_letters}{string.digits}._-+=@:%,~ü日"
    ]
    assert started.issuperset(usual)
    assert not any(refusal(str(tmp_path / name)) for name in usual)


@pytest.mark.parametrize(
    ("path", "named"),
    [("/home/me/my project (v1)/.venv/bin/python", "a blank and '(' and ')'"), ("/a'b", '"\'"')],
)
def test_the_message_names_path_fault_and_remedy(path, named):
    line = refusal(path)
    assert line.startswith(f"{path}: ") and "\n" not in line
    assert f"whose path has {named} in it" in line
    assert "make setup VENV=" in line


@pytest.mark.parametrize(("path", "named"), [("/a{b}/c", "'{' and '}'"), ("/a:b", "':'")])
def test_folders_that_no_python_helps(path, named):
    with pytest.raises(InputError, match="rename or move this folder") as caught:
        check_folder(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert f"whose path has {named} in it" in str(caught.value)
    check_folder("/my project (v1) & 'more'/wee bill")
