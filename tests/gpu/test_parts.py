"""Parts of `make test-gpu`: a part that fails or hangs does not stop the others; table and JSON have all parts."""

import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.gpu import __main__ as script
from tests.gpu.experiments import LINES, failures_of
from tests.gpu.parts import KERNELS, Part, has, read_tests, run_together
from tests.workflow.running import REPOSITORY

FAILS = "print('before'); raise SystemExit(3)"
HANGS = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""


def part(name: str, code: str, limit: float = 30.0) -> Part:
    return Part(name, ["-c", code], limit, lambda: ({}, {"read": name}))


def runs(process: int) -> bool:
    """Return True if a process runs: it has not ended, and is no zombie."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_parts_run_beside_each_other_and_end_at_their_limits(tmp_path):
    parts = [part("good", "print(1)"), part("bad", FAILS), part("slow", HANGS, limit=2)]
    began = time.monotonic()
    good, bad, slow = run_together(parts, tmp_path, {})
    assert time.monotonic() - began < 20
    assert (good.result, good.failures, good.found) == ("passed", {}, {"read": "good"})
    assert (bad.result, bad.failures) == ("failed", {"exit 3": "before"})
    assert slow.result == "stopped" and list(slow.failures) == ["stopped after 2 s"]
    child = int((tmp_path / "slow.log").read_text())
    end = time.monotonic() + 10
    while runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not runs(child)


def test_a_part_without_a_result_shows_its_log(tmp_path):
    def read():
        raise FileNotFoundError

    [found] = run_together([Part("gone", ["-c", "print('why')"], 30, read)], tmp_path, {})
    assert (found.result, found.failures) == ("failed", {"no result": "why"})


def test_reads_what_pytest_wrote(tmp_path):
    (tmp_path / "test_some.py").write_text(
        "import pytest\n\ndef test_a(): pass\n\ndef test_b(): assert 1 == 2\n\n"
        "@pytest.mark.skip(reason='no card')\ndef test_c(): pass\n"
    )
    report = tmp_path / "found.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", tmp_path]
    subprocess.run(command, cwd=tmp_path, capture_output=True)
    failures, found = read_tests(report)
    assert (found["passed"], found["failed"]) == (1, 1)
    assert list(found["skipped"].values()) == ["no card"]
    [(name, text)] = failures.items()
    assert name.endswith("::test_b") and "assert 1 == 2" in text


def test_failed_rules_show_the_ends_of_their_logs(tmp_path):
    log = Path("results/a/logs/train.log")
    (tmp_path / log).parent.mkdir(parents=True)
    (tmp_path / log).write_text("".join(f"{number}\n" for number in range(200)))
    output = (
        "08:00:00  finished  import corpus a after 1 s\n"
        f"Failed: train student a (rule train_student); log: {log}\n"
        "Failed: prune b (rule prune); log: results/a/logs/none.log\n"
    )
    found = failures_of(output, tmp_path)
    assert found["train student a"].splitlines() == [str(number) for number in range(140, 200)]
    assert found["prune b"] == output.strip() and LINES == 60


def test_without_a_card_one_line_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["tests.gpu", "--json", str(tmp_path / "x.json")])
    assert script.main() == 1
    error = capsys.readouterr().err
    assert error.startswith("no CUDA device for PyTorch") and len(error.splitlines()) == 1
    assert not (tmp_path / "x.json").exists()


def test_versions_in_the_range_are_accepted(monkeypatch):
    own = {"torch": "2.11.0+cu130", "transformers": "5.24.1"}
    monkeypatch.setattr(script, "version", own.__getitem__)
    assert script.accepted() == {"torch": True, "transformers": False}


def test_the_tests_of_kernels_are_chosen():
    tests = REPOSITORY / "tests"
    assert has(tests / "kernels/test_ssru_scan.py", KERNELS)
    assert has(tests / "kernels/test_cpu_matmul.py", KERNELS)
    assert not has(tests / "package/test_extras.py", KERNELS)
    assert not has(tests / "test_bleu.py", KERNELS)
