"""The README's claims for newcomers: its example is a valid configuration, and its commands exist."""

import re

import yaml

from tests.workflow.running import REPOSITORY
from weebill.__main__ import COMMANDS
from weebill.configuration.checking import check

README = (REPOSITORY / "README.md").read_text()


def test_the_example_of_own_data_is_valid():
    example = re.search(r"```yaml\n(.*?)```", README, re.DOTALL).group(1)
    demo = yaml.safe_load((REPOSITORY / "config/demo.yaml").read_text())
    check({**demo, **yaml.safe_load(example)}, "README.md")


def test_commands_targets_and_files_exist():
    assert set(re.findall(r"^weebill ([a-z-]+)", README, re.MULTILINE)) == set(COMMANDS)
    makefile = (REPOSITORY / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile
    for path in re.findall(r"\b(?:config|docs|profiles|envs)/[\w./-]+\b", README):
        assert (REPOSITORY / path).exists(), path
