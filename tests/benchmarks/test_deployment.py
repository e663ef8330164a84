"""`weebill benchmark deployment`: sizes, compared with `du`, and a program that only loads the C library."""

import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from weebill.benchmarks import deployment


def test_each_engine_is_weighed_with_what_it_requires(monkeypatch):
    monkeypatch.setattr(deployment, "PROGRAM", Path("absent"))
    monkeypatch.setattr(deployment, "OTHERS", {"CTranslate2": ("ctranslate2", "sentencepiece")})
    (row,) = deployment.run(3)
    assert row.claim == "size of weebill-runtime against CTranslate2" and row.unit == "MiB"
    assert row.ratio == row.lowest == row.highest == row.ours / row.other < 1
    folders = [metadata.distribution("numpy").locate_file(one) for one in ("numpy", "numpy.libs")]
    du = [
        "du",
        "--apparent-size",
        "--summarize",
        "--block-size=1",
        "--total",
        "--exclude=__pycache__",
    ]
    told = subprocess.run([*du, *folders], capture_output=True, text=True, check=True).stdout
    numpy = int(told.splitlines()[-1].split()[0]) / 2**20
    assert row.ours > 0.95 * numpy > 10  # folders themselves have some bytes


def test_a_program_is_weighed_with_its_libraries(tmp_path):
    """The size of a program that only needs the C library includes this library and its loader."""
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "program"
    done = subprocess.run(["cc", "-o", program, source], capture_output=True)
    if done.returncode:
        pytest.skip("no C compiler here")
    told = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    loaded = {Path(word).resolve() for word in told.split() if word.startswith("/")}
    assert len(loaded) == 2
    expected = sum(file.stat().st_size for file in (program, *loaded)) / 2**20
    assert deployment.program_mib(program) == pytest.approx(expected)
