"""The README's claims for newcomers: its example is a valid configuration, and its commands exist."""

import re

import pytest
import yaml

from tests.workflow.running import REPOSITORY
from weebill.__main__ import COMMANDS
from weebill.configuration.checking import check

README = (REPOSITORY / "README.md").read_text()
GPU = (REPOSITORY / "docs/gpu.md").read_text()


def test_the_example_of_own_data_is_valid():
    example = re.search(r"```yaml\n(.*?)```", README, re.DOTALL).group(1)
    demo = yaml.safe_load((REPOSITORY / "config/demo.yaml").read_text())
    check({**demo, **yaml.safe_load(example)}, "README.md")


def test_every_command_is_shown():
    assert set(re.findall(r"^weebill ([a-z-]+)", README, re.MULTILINE)) == set(COMMANDS)


@pytest.mark.parametrize("text", [README, GPU], ids=["README", "gpu"])
def test_commands_targets_and_files_exist(text):
    assert set(re.findall(r"^weebill ([a-z-]+)", text, re.MULTILINE)) <= set(COMMANDS)
    makefile = (REPOSITORY / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
        assert f"\n{target}:" in makefile
    for path in re.findall(r"\b(?:config|docs|profiles|envs)/[\w./-]+\b", text):
        assert (REPOSITORY / path).exists(), path


def test_what_is_said_of_gpus_holds():
    demo = yaml.safe_load((REPOSITORY / "config/demo.yaml").read_text())
    hardware = yaml.safe_load(re.search(r"```yaml\n(.*?)```", GPU, re.DOTALL).group(1))["hardware"]
    check({**demo, "hardware": {**demo.get("hardware", {}), **hardware}}, "docs/gpu.md")
    (told,) = re.findall(r"`(hardware\.accelerator: found gpu, [\w ,\n]+machine);", GPU)
    written = (REPOSITORY / "weebill/kernels/accelerator.py").read_text()
    assert re.sub(r"\s+", " ", told) in written
