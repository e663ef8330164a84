"""The fuzzer finds planted faults, and no faults in some cases of the fast readers."""

import os
import signal
import subprocess
import sys
from random import Random

from tests.fuzz.__main__ import fuzz
from tests.fuzz.mutations import damaged
from tests.fuzz.readers import Reader


def _planted(folder):
    content = (folder / "file").read_bytes()
    if len(content) < 60:
        raise KeyError("planted")
    if b"\xfe" in content:
        raise SystemExit("planted")
    if b"\xff" in content:
        os.kill(os.getpid(), signal.SIGSEGV)


def test_planted_faults_are_found_and_kept(tmp_path):
    planted = Reader(lambda folder: (folder / "file").write_bytes(b"x" * 64), _planted, ("file",))
    found = fuzz("planted", planted, tmp_path, 600, seed=1, keep=tmp_path / "kept", most=100)
    kinds = sorted(kind.split(".py")[0] for kind in found["findings"])
    assert kinds == ["KeyError at test_fuzz", "SystemExit at test_fuzz", "ended by signal 11"]
    told = {path.read_text().split(" at ")[0].strip() for path in tmp_path.glob("kept/*/FINDING")}
    assert told == {"KeyError", "SystemExit", "ended by signal 11"}
    assert found["tried"] > found["accepted"] > 0


def test_a_case_is_always_the_same_damage():
    for name, content in {
        "a.json": b'{"a": [1, {"b": 2}]}',
        "b.bin": bytes(range(99)),
        "c.yaml": b"a: 1",
    }.items():
        made = [damaged(content, name, Random(f"1 {case}")) for case in range(40)]
        assert made == [damaged(content, name, Random(f"1 {case}")) for case in range(40)]
        assert len(set(made)) > 20 and sum(one != content for one in made) > 30


def test_quick_readers(tmp_path):
    names = ["n-best list", "archives", "corpus table"]
    words = ["--minutes", "0.03", "--seed", "9", "--keep", tmp_path, "--readers", *names]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *map(str, words)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
