"""README's claims for newcomers: two commands set up, one runs the demo, one the tests; all named files exist."""

import re

import pytest

from tests.docs.snippets import pages
from tests.workflow.running import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
GPU = (REPOSITORY / "docs/guides/gpu.md").read_text("utf-8")


def test_two_commands_set_up_one_runs_the_demo_and_one_the_tests():
    (block,) = (
        code for code in re.findall(r"```\n(.*?)```", README, re.DOTALL) if "make setup" in code
    )
    commands = [re.split(r"\s+#", line)[0] for line in block.splitlines()]
    assert commands == [
        "git clone ADDRESS weebill && cd weebill",
        "make setup",
        "make demo",
        "make test",
    ]


@pytest.mark.parametrize("page", pages())
def test_targets_and_files_exist(page):
    text = (REPOSITORY / page).read_text("utf-8")
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
        assert f"\n{target}:" in makefile, target
    text = re.sub(
        r"config/(X|x|NAME)\.yaml|docs/results/EXPERIMENT/TABLE\.md", "", text
    )  # placeholders
    for path in re.findall(r"(?<![\w/.])(?:config|docs|profiles|envs)/[\w./-]*\w\b", text):
        assert (REPOSITORY / path).exists() or (REPOSITORY / page).parent.joinpath(path).exists(), (
            path
        )


def test_what_is_said_of_gpus_holds():
    (told,) = re.findall(r"`(hardware\.accelerator: found gpu, [\w ,\n]+machine);", GPU)
    written = (REPOSITORY / "weebill/kernels/accelerator.py").read_text("utf-8")
    assert re.sub(r"\s+", " ", told) in written
