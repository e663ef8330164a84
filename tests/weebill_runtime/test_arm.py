"""The engines for Arm, emulated by qemu: products of each instruction set, and translations equal to x86's.

`make test-arm` builds the programs that these tests run.
"""

import shutil
import subprocess

import pytest

from tests.small_models import TEXT
from tests.weebill_runtime.program import HARD, make_folders, run_program, text_of
from tests.workflow.running import REPOSITORY
from weebill_runtime.translator import Translator

BUILT = REPOSITORY / "build/program/aarch64"
LIBRARIES = "/usr/aarch64-linux-gnu"
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
SETS = {  # sets of a processor, by its name in qemu, the fastest first
    "cortex-a72": ["neon"],
    "neoverse-n1": ["dotprod", "neon"],
    "max": ["i8mm", "dotprod", "neon"],
}

pytestmark = [
    pytest.mark.arm,
    pytest.mark.skipif(QEMU is None, reason="no qemu-aarch64 here (Debian: qemu-user-static)"),
    pytest.mark.skipif(
        not (BUILT / "weebill-check").is_file(), reason="not built; `make test-arm` does it"
    ),
]


def emulated(processor: str, program: str) -> list[str]:
    return [QEMU, "-L", LIBRARIES, "-cpu", processor, str(BUILT / program)]


@pytest.mark.parametrize("isa", [*SETS["max"], "portable"])
def test_what_a_set_computes_is_that_of_plain_loops(isa):
    found = subprocess.run([*emulated("max", "weebill-check"), isa], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, f"{isa}: 0 wrong\n"), found


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return make_folders(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def lines(request):
    try:
        file = request.getfixturevalue("real_text")("multi30k/test_2016_flickr.en")
    except pytest.skip.Exception:
        return [*TEXT, *HARD]
    return [*file.read_text("utf-8").splitlines()[:500], *HARD]


@pytest.mark.parametrize("processor", SETS)
@pytest.mark.parametrize("grid", ["int8", "float32"])
def test_translations_are_those_of_x86(folders, lines, processor, grid):
    """Another order of float sums may change the choice between equally probable pieces, in a line or two."""
    expected = Translator(folders[grid]).translate(lines)
    program = emulated(processor, "installed/bin/weebill-translate")
    found = run_program(program, folders[grid], text=text_of(lines))
    assert (found.returncode, found.stderr) == (0, b"")
    translations = found.stdout.decode().split("\n")[:-1]
    assert len(translations) == len(lines)
    differing = sum(one != other for one, other in zip(translations, expected, strict=True))
    assert differing <= len(lines) // 100
    chosen = run_program(program, folders[grid], "--isa", SETS[processor][0], text=text_of(lines))
    assert chosen.stdout == found.stdout


def test_sets_that_a_processor_lacks_are_refused(folders):
    program = emulated("cortex-a72", "installed/bin/weebill-translate")
    found = run_program(program, folders["int8"], "--isa", "dotprod")
    assert b"this machine lacks it; it has neon, portable" in found.stderr
