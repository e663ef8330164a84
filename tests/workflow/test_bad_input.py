"""Bad configurations and folders give plain error lines and exit code 1 before any job."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.mounting import mounted
from tests.workflow.running import REPOSITORY, TINY, run_snakemake, snakemake


def changed(folder: Path, **changes) -> Path:
    """Return a copy of the tiny configuration with some keys replaced."""
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(TINY.read_text()), **changes}))
    return path


def error_lines(run, marker: str) -> list[str]:
    """Return the error lines of a failed run with `marker`; check that there is no traceback."""
    assert run.returncode == 1, run.stdout
    assert "Traceback" not in run.stdout
    assert "Error in file" not in run.stdout
    return [line for line in run.stdout.splitlines() if marker in line]


SNAKEFILE = ("--snakefile", str(REPOSITORY / "Snakefile"))
TABLE = "results/tiny/test_sets/tatoeba_test.parquet"


def test_a_run_without_cores_would_wait_for_ever(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = run_snakemake(*SNAKEFILE, "--configfile", str(TINY), "--cores", "0")
    assert error_lines(run, "--cores") == [
        "--cores: found 0, expected 1 or more; no job could ever start"
    ]


SPOILT = {
    "latin.yaml": ("seed: 1\n# M\xfcnchen\n".encode("latin-1"), ":2: not UTF-8 (byte 0xfc)"),
    "day.yaml": (b"seed: 1\nexperiment: 2020-13-45\n", ":2: not valid YAML: '2020-13-45' is no date"),
    "hour.yaml": (b"a: 2021-02-30T25:61:61\n", ":1: not valid YAML: '2021-02-30T25:61:61' is no date"),
    "digits.yaml": (b"seed: " + b"7" * 5000, ":1: not valid YAML: '77777777777777777777… (5,000 characters)'"),
    "deep.yaml": (b"[" * 3000, ": not valid YAML: nested too deeply"),
    "braces.yaml": (b"{a: " * 4000, ": not valid YAML: nested too deeply"),
    "tab.yaml": (b"languages:\n\tsource: en\n", ":2: not valid YAML: found character '\\t'"),
    "object.yaml": (b"a: !!python/object/apply:os.getcwd []\n", ":1: not valid YAML: could not determine"),
    "empty.yaml": (b"", ": found nothing, expected keys"),
    "list.yaml": (b"- seed\n", ": found a list, expected keys"),
    "cut.json": (b'{"seed": 1,', ":1: not valid YAML"),
    "large.yaml": (b"# " + b"x" * 2**22, ": more than 4,194,304 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*SPOILT, "missing.yaml", "folder.yaml", "loop.yaml", "pipe.yaml"])
def test_a_configuration_that_snakemake_would_not_explain(tmp_path, monkeypatch, name):
    """Snakemake itself would show a traceback, or a message without file and line."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    content, told = SPOILT.get(name, (None, ""))
    match name:
        case "folder.yaml":
            path.mkdir()
            told = ": a folder, expected a file"
        case "loop.yaml":
            path.symlink_to(path)
            told = ": a symbolic link that leads to itself"
        case "pipe.yaml":
            os.mkfifo(path)
            told = ": not a plain file"
        case "missing.yaml":
            told = ": no such file"
        case _:
            path.write_bytes(content)
    run = run_snakemake(
        *SNAKEFILE,
        "-n",
        "--configfile",
        str(TINY),
        name,
    )
    lines = [line for line in run.stdout.splitlines() if "profile" not in line]
    assert run.returncode == 1 and len(lines) == 1, run.stdout
    assert lines[0].startswith(f"weebill: {name}{told}")


def test_a_profile_names_the_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("seed: 1\n\tx: 1\n")
    (tmp_path / "profile").mkdir()
    profile = {"configfile": ["bad.yaml"], "logger": ["weebill"]}
    (tmp_path / "profile/config.yaml").write_text(yaml.safe_dump(profile))
    run = run_snakemake(*SNAKEFILE, "-n", "--workflow-profile", "profile")
    assert run.stdout.splitlines()[-1].startswith("weebill: bad.yaml:2: not valid YAML")


def test_another_workflow_may_repeat_a_key(tmp_path, monkeypatch):
    """Another workflow's files are not checked: Snakemake takes the last of two equal keys."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").write_text("rule all:\n    run:\n        print(config)\n")
    (tmp_path / "twice.yaml").write_text("seed: 1\nseed: 2\n")
    options = ("-n", "--logger", "weebill", "--configfile", "twice.yaml")
    assert run_snakemake(*options).returncode == 0


def test_all_errors_at_once(tmp_path):
    languages = {"source": "en", "target": "xx"}
    config = changed(tmp_path, students=["demo.mikro"], sead=3, qantization={}, languages=languages)
    lines = error_lines(snakemake(tmp_path, config, "--cores", "1"), str(config))
    for words in ("did you mean 'demo.micro'", "sead", "did you mean 'quantization'", "'xx'"):
        assert sum(words in line for line in lines) == 1, lines


def test_errors_name_all_files(tmp_path, monkeypatch):
    """Any of several configuration files may have the faulty key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.yaml").write_text("sead: 3\n")
    run = run_snakemake(*SNAKEFILE, "-n", "--configfile", str(TINY), "more.yaml")
    (line,) = error_lines(run, "sead: unknown key")
    assert line.startswith(f"{TINY} + ") and "more.yaml: sead: " in line


def test_a_key_given_twice(tmp_path):
    config = tmp_path / "twice.yaml"
    config.write_text(TINY.read_text() + "seed: 8\n")
    (line,) = error_lines(snakemake(tmp_path, config, "--cores", "1"), str(config))
    assert "'seed' stands here a second time" in line


@pytest.mark.parametrize(
    ("student", "made"),
    [
        ("demo.mikro", "models/{}/unpruned/float32"),
        ("demo.micro~x", "models/{}/steady-i2/float32"),
        ("demo.micro@mono", "evaluation/size/{}.json"),
    ],
)
def test_a_target_of_no_student(tmp_path, student, made):
    target = f"results/tiny/{made.format(student)}"
    (line,) = error_lines(snakemake(tmp_path, TINY, "--dry-run", target), "students: ")
    assert f"has no '{student}'" in line and line.endswith("did you mean 'demo.micro'?")


def test_targets_that_nothing_makes(tmp_path):
    told = {
        "results/tiny/models/demo.micro/unpruned/int9": "/unpruned/int8'?",
        "train_techer": "no rule makes this; did you mean 'train_teacher'?",
        "results/tini/summary.md": "makes results/tiny; name the configuration of tini",
    }
    run = snakemake(tmp_path, TINY, "--dry-run", *told)
    for target, words in told.items():
        (line,) = error_lines(run, f"{target}: ")
        assert words in line


def test_missing_local_file(tmp_path):
    corpora = {"news": {"importer": "files", "source": "gone.en.gz", "target": "gone.de.gz"}}
    config = changed(tmp_path, corpora=corpora)
    lines = error_lines(snakemake(tmp_path, config, "--cores", "1"), "gone.")
    assert len(lines) == 2
    assert not (tmp_path / "results/tiny/corpora").exists()


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a read-only file system: /sys")
def test_read_only_results(tmp_path):
    (tmp_path / "results").symlink_to("/sys/kernel")  # not even root can make folders there
    run = snakemake(tmp_path, TINY, "--cores", "1")
    assert len(error_lines(run, "cannot write results here")) == 1
    assert not list((tmp_path / ".snakemake/locks").glob("*")), "the failed run left its lock"


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a read-only file system: /sys")
def test_a_folder_in_which_snakemake_cannot_write(monkeypatch):
    monkeypatch.chdir("/sys/kernel")
    run = run_snakemake(*SNAKEFILE, "-n", "--configfile", str(TINY))
    assert run.returncode == 1 and "Traceback" not in run.stdout
    assert run.stdout.splitlines()[-1].startswith("weebill: .snakemake: ")


def test_a_file_in_the_place_of_results(tmp_path):
    (tmp_path / "results").touch()
    (line,) = error_lines(snakemake(tmp_path, TINY, "--dry-run"), "results: ")
    assert line == "results: a file stands where results need a folder; move it away"


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of 128 KiB at tmp_path/results."""
    with mounted(tmp_path / "results", "size=128k") as place:
        yield place


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("nr_inodes=8", "no inode left"),  # fails before any job
        ("size=12k", "the disk is full"),  # fails in the first job
    ],
)
def test_a_full_disk_below_snakemake_itself(tmp_path, options, told):
    """The run's whole folder is on a disk that is too small; then the disk grows, and the run succeeds."""
    with mounted(tmp_path / "run", options) as folder:
        arguments = (folder, TINY, "--cores", "1", TABLE)
        run = snakemake(*arguments)
        messages = {line for line in run.stdout.splitlines() if line.startswith("weebill: ")}
        assert run.returncode == 1 and len(messages) == 1, run.stdout
        assert told in messages.pop() and "Traceback" not in run.stdout.split("its last lines")[0]
        grow = ["mount", "-o", "remount,size=9m,nr_inodes=999", str(folder)]
        subprocess.run(grow, check=True)
        shutil.rmtree(folder / ".snakemake/locks", ignore_errors=True)
        run = snakemake(*arguments)
        assert run.returncode == 0 and (folder / TABLE).is_file(), run.stdout


def test_full_disk(tmp_path, small_disk):
    corpora = {"tatoeba": {"importer": "tatoeba", "pairs": 8_000}}
    config = changed(tmp_path, corpora=corpora)
    run = snakemake(tmp_path, config, "--cores", "1", "results/tiny/corpora/tatoeba/imported")
    assert run.returncode == 1, run.stdout
    assert "Traceback" not in run.stdout
    messages = {line for line in run.stdout.splitlines() if line.startswith("weebill: ")}
    assert len(messages) == 1 and "the disk is full" in messages.pop()
    assert not (small_disk / "tiny/corpora/tatoeba/imported").exists()
    assert not list(small_disk.rglob("*.partial*")), "a failed job left a partial output"


def test_a_dry_run_names_missing_files_and_goes_on(tmp_path):
    """A dry run without data lists the jobs, and names ten of many missing files."""
    corpora = {
        f"news{number:02}": {
            "importer": "files",
            "source": f"gone/{number}.en",
            "target": "here.de",
        }
        for number in range(13)
    }
    (tmp_path / "here.de").write_text("Ein Hund.\n")
    config = changed(tmp_path, corpora=corpora)
    run = snakemake(tmp_path, config, "-n")
    assert run.returncode == 0 and "train_student" in run.stdout
    lines = [line for line in run.stdout.splitlines() if line.startswith("  missing: ")]
    assert lines == [
        *(
            f"  missing: corpora.news{number:02}.source: no such file or folder: gone/{number}.en; "
            "put it there or change the path"
            for number in range(10)
        ),
        "  missing: 3 more files or folders",
        "  missing: a run needs all of them",
    ]
