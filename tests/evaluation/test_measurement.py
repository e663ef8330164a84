"""Signatures of measurements."""

import shutil
import subprocess

import pytest

from weebill.evaluation.measurement import hardware, software_versions, versions_line
from weebill.evaluation.timing.timer import pinned


@pytest.mark.skipif(not shutil.which("lscpu"), reason="lscpu (Debian: util-linux) is not installed")
def test_hardware_tells_what_lscpu_does():
    listed = subprocess.run(
        ["lscpu"], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}
    ).stdout
    told = dict(line.split(":", 1) for line in listed.splitlines() if ":" in line)
    told = {key.strip(): value.strip() for key, value in told.items()}
    with pinned():
        name = hardware()
    assert (
        name == f"{told['Model name']} (family {told['CPU family']}, model {told['Model']}), 1 core"
    )


def test_versions_of_other_packages_stand_last():
    assert versions_line(software_versions(["pytest"])).endswith(f", pytest {pytest.__version__}")
