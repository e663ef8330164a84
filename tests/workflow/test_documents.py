"""Every Snakemake command in the documents is parsed as intended, by Snakemake's own parser."""

import re
import shlex
import subprocess

import pytest
from snakemake.cli import get_argument_parser
from snakemake.exceptions import CliException

from tests.workflow.running import REPOSITORY

DOCUMENTS = ("*.md", "*.rst", "*.yaml", "*.smk", "*.sh", "Snakefile", "Makefile", "*.py", "*.toml")
COMMAND = re.compile(r"(?:^|[\s`\"'(/])snakemake\"?((?: (?!import\b)[^`\n]+)+)")


def commands(text: str) -> list[str]:
    """Return the arguments of each command in a text: from `snakemake` to the end of the line or quotation."""
    text = re.sub(r"\\\n[ \t]*(?:#[ \t]*)?", "", text)  # joins continued lines
    found = []
    for match in COMMAND.finditer(text):
        line = re.split(r" {2,}#| # |`|\"$", match[1])[0].strip()
        if re.search(r"(?:^| )--?[a-z]", line):  # lines without options are prose
            found.append(line)
    return found


def fault(command: str) -> str | None:
    """Return the words that Snakemake would misread, which are no files or settings; None if there are none."""
    # Replace the Makefile's variables, a number that readers choose, and the file that the Makefile's rules add.
    command = re.sub(r"\$\(\w+\)|\bN\b", "2", command)
    command += " x.yaml" if command.endswith("--configfile") else ""
    try:
        parsed = get_argument_parser().parse_args(shlex.split(command))
    except (SystemExit, CliException, ValueError) as error:
        return f"Snakemake does not read it: {error}"
    for file in parsed.configfile or []:
        if not str(file).endswith((".yaml", ".yml", ".json")):
            return f"--configfile takes {file}"
    for setting in parsed.config or []:
        if "=" not in setting:
            return f"--config takes {setting}"
    return None


def tracked(*patterns: str) -> list[str]:
    """Return the paths of the repository's files that match the patterns."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=REPOSITORY, capture_output=True, check=True,
    )  # fmt: skip
    return [name for name in listed.stdout.decode().split("\0") if name]


def documented() -> list[tuple[str, str]]:
    """Return (file, arguments) of every command in the repository's documents, messages and comments."""
    return [
        (name, command)
        for name in tracked(*DOCUMENTS)
        if not name.startswith("tests/")
        for command in commands((REPOSITORY / name).read_text("utf-8"))
    ]


@pytest.fixture
def in_a_clone():
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no clone: which files are documents is asked of git")


def test_no_target_stands_where_an_option_takes_it(in_a_clone, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    found = documented()
    files = {name for name, _ in found}
    assert (
        len(found) >= 14 and {"config/README.md", "docs/guides/experiments.md", "Makefile"} <= files
    )
    assert [(name, line, bad) for name, line in found if (bad := fault(line))] == []


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("snakemake --cores 2 --configfile a.yaml results/x/models/pruned  # one", "results/x"),
        ("run `snakemake -c1 --configfile a.yaml b.yaml publish` then", "publish"),
        ("# snakemake --cores 2 --configfile a.yaml \\\n#   results/x/summary.md", "results/x"),
        ("snakemake --config seed=7 results/x/summary.md --cores 1", "results/x"),
        ("snakemake --cores 2 results/x/summary.md --configfile a.yaml", None),
        ("snakemake --configfile a.yaml --cores 2 results/x/summary.md", None),
        ("snakemake --configfile a.yaml --dry-run -- results/x/summary.md", None),
    ],
)
def test_the_check_sees_what_snakemake_would_take(text, bad):
    (command,) = commands(text)
    found = fault(command)
    assert found is None if bad is None else bad in found


@pytest.mark.parametrize("outside", ["../shar" + "ed", "shar" + "ed/data"])
def test_nothing_outside_the_checkout_is_named(outside):
    """No file of the repository but `.ci/run` may look for a mirror there."""
    files = tracked(*DOCUMENTS)
    assert len(files) > 500
    assert [name for name in files if outside in (REPOSITORY / name).read_text("utf-8")] == []
