"""The image of a student, without a container engine: the copied files run in a chroot with only the C library."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.small_models import TEXT
from tests.weebill_runtime.program import PROGRAM, make_folders, text_of
from tests.workflow.running import REPOSITORY
from weebill.benchmarks.deployment import shared_libraries
from weebill_runtime.translator import Translator

STEPS = re.findall(
    r"^([A-Z]+) +(.+)$", (REPOSITORY / "envs/student.Dockerfile").read_text(), re.MULTILINE
)


@pytest.mark.skipif(not PROGRAM.is_file(), reason="weebill-translate is not built")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root folder")
def test_it_translates(tmp_path):
    student = make_folders(tmp_path)["int8"]
    root = tmp_path / "root"
    for copied in (words for step, words in STEPS if step == "COPY"):
        *options, source, target = copied.split()
        place = root / target.strip("/")
        if options:
            assert (options, source) == (["--from=student"], ".")
            shutil.copytree(student, place)
        else:
            place.mkdir(parents=True)
            shutil.copy(PROGRAM.parents[1] / source, place)
    for library in shared_libraries(PROGRAM):  # as in the base image
        place = root / Path(library).relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    (entry,) = (json.loads(words) for step, words in STEPS if step == "ENTRYPOINT")
    found = subprocess.run(
        ["chroot", root, f"/usr/local/bin/{entry[0]}", *entry[1:]],
        input=text_of(TEXT),
        capture_output=True,
    )
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout == text_of(Translator(student).translate(TEXT))
