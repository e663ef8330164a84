"""`weebill run` explains errors that Snakemake would not, and passes the user's options to Snakemake."""

import os
from pathlib import Path

import pytest
from snakemake.cli import get_argument_parser

from tests.workflow.running import REPOSITORY
from weebill.__main__ import main
from weebill.commands.run import snakemake_command
from weebill.errors import InputError

TARGET = "results/x/summary.md"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("seed: 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "files", "targets", "cores"),
    [
        (["a.yaml"], ["a.yaml"], [], os.cpu_count()),
        (["a.yaml", "b.yaml", TARGET, "-n"], ["a.yaml", "b.yaml"], [TARGET], os.cpu_count()),
        (["a.yaml", "--cores", "3", "publish"], ["a.yaml"], ["publish"], 3),
        (["a.yaml", TARGET, "-c2"], ["a.yaml"], [TARGET], 2),
    ],
)
def test_targets_and_options_reach_snakemake(words, files, targets, cores):
    parsed = get_argument_parser().parse_args(snakemake_command(words))
    assert [str(file) for file in parsed.configfile] == files
    assert sorted(parsed.targets) == targets and parsed.cores == cores
    assert Path(parsed.snakefile) == REPOSITORY / "Snakefile"


def test_snakemake_takes_the_place_of_the_command(monkeypatch):
    started = []
    monkeypatch.setattr("os.execv", lambda program, words: started.append(words[1:4]))
    main(["run", "a.yaml", "--dry-run"])
    assert started == [["-m", "snakemake", "--configfile"]]


def test_files_of_a_second_option_would_replace_the_first(folder):
    with pytest.raises(InputError, match=r"--configfile: name all files .*: weebill run a\.yaml"):
        snakemake_command(["a.yaml", "--cores", "1", "--configfile", "b.yaml"])


@pytest.mark.parametrize("word", ["training.updates=5", "seed", TARGET])
def test_values_that_no_option_can_give(folder, word):
    with pytest.raises(InputError, match=rf"--config {word}: .* file: weebill run a\.yaml second"):
        snakemake_command(["a.yaml", "--config", "seed=3", word, "--cores", "1"])
    assert snakemake_command(["a.yaml", "--config", "seed=3", "--cores", "1", TARGET])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"seed: 1\nlanguages:\n\tsource: en\n", "bad.yaml:3: not valid YAML: found character '\\t'"),
        ("seed: 1\n# déjà vu\n".encode("latin-1"), "bad.yaml:2: not UTF-8 (byte 0xe9)"),
        (b"- seed\n", "bad.yaml: found a list, expected keys with values"),
        (None, "bad.yaml: no such file; check the path"),
    ],
)  # fmt: skip
def test_a_file_that_snakemake_cannot_read(folder, monkeypatch, capsys, content, told):
    monkeypatch.setattr("os.execv", lambda *words: pytest.fail("Snakemake starts"))
    if content is not None:
        (folder / "bad.yaml").write_bytes(content)
    assert main(["run", "a.yaml", "bad.yaml", "--cores", "1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"weebill: {told}")
