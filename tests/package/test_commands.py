"""Installed commands run with the requirements of their extra, and name an extra that is missing."""

import hashlib
import json
import os
import sys
from importlib import metadata

import pytest
from packaging.utils import canonicalize_name

from tests.corpus.serving import serving
from tests.package.commands import COMMANDS, CONFIG, prepare
from tests.package.installing import ROOT, link, required, run, run_commands
from weebill import __version__
from weebill.distributions import is_needed


def missing(command: str, module: str, extra: str) -> str:
    """Return the message for a module that is not installed."""
    return (
        f"weebill: {command}: the Python module '{module}' is not installed here; in Weebill's folder, "
        f"`pip install ./runtime '.[{extra}]'` installs what this command needs, and `make setup` everything\n"
    )


@pytest.fixture(scope="module")
def bare(requirements, tmp_path_factory):
    """Make a folder with the requirements of the bare package."""
    return link(required(requirements).values(), tmp_path_factory.mktemp("packages") / "bare")


def processor_seconds() -> float:
    """Return the processor time of all ended processes; unlike the clock, it does not depend on other work."""
    times = os.times()
    return times.children_user + times.children_system


def test_the_version_needs_the_standard_library_alone(tmp_path):
    """With -S, Python ignores all installed packages; with -I, it ignores environment variables."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from weebill.__main__ import main; "
    before = processor_seconds()
    done = run(sys.executable, "-I", "-S", "-c", code + "main(['--version'])", cwd=tmp_path)
    assert done.stdout == f"{__version__}\n"
    assert processor_seconds() - before < 0.2


def test_without_any_package_but_the_runtime_it_gives_help(installed, tmp_path):
    script = str(installed.with_name("weebill"))
    runtime = link([metadata.distribution("weebill-runtime")], tmp_path / "packages")
    assert run(script, "--version", cwd=tmp_path, packages=[runtime]).stdout == f"{__version__}\n"
    commands = [["--version"], ["--help"], ["mbrr"], ["translate", "--help"], ["describe", "tiny"],
        ["translate", "none", "--nbest", "3"]]  # fmt: skip
    found, _ = run_commands(installed, commands, tmp_path, runtime)
    assert [code for code, _, _ in found] == [0, 0, 2, 0, 1, 1]
    assert "minimum Bayes risk" in found[1][1]
    assert "found 'mbrr', expected one of" in found[2][2]
    assert found[4][2] == missing("describe", "psutil", "all")
    assert found[5][2] == "weebill: translate: --nbest 3 needs --beam 3 or more\n"


def test_the_bare_package_describes_checks_and_fetches(
    installed, bare, requirements, tmp_path, monkeypatch
):
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "cache"))
    text = b"One.\n"
    sha256 = hashlib.sha256(text).hexdigest()
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / sha256).write_bytes(text)
    monkeypatch.setenv("WEEBILL_MIRROR", str(tmp_path / "mirror"))
    commands = [["describe", "--all"], ["describe", "tinny"], ["check", "own.json"], ["fetch", "--list"],
        ["check", str(ROOT / "config/wngt20.yaml")], ["fetch", "own.json"], ["lineage", "none"]]  # fmt: skip
    with serving() as site:
        monkeypatch.setenv("HF_ENDPOINT", site.address)
        entry = {"path": "https://example.org/text", "sha256": sha256}
        hub = {"name": "owner/name", "revision": "0" * 40}
        data = {"text": {"task": "language-modelling", "train": [entry], "test": [hub]}}
        (tmp_path / "own.json").write_text(json.dumps({**CONFIG, "data": data}))
        found, modules = run_commands(installed, commands, tmp_path, bare)
    codes, outputs, errors = zip(*found, strict=True)
    assert codes == (0, 1, 0, 0, 0, 1, 1), found
    assert "15,722,752" in outputs[0]
    assert errors[1].endswith("experiment/models.yaml; did you mean 'tiny'?\n")
    assert outputs[5].startswith("in the mirror") and "owner/name" in errors[5]
    assert errors[6] == "weebill: none: no such result; check the path\n"
    owners = metadata.packages_distributions()
    used = {canonicalize_name(owner) for module in modules for owner in owners.get(module, ())}
    needed_here = {canonicalize_name(one.name) for one in requirements if is_needed(one)}
    # Only completion by a shell loads argcomplete, a download tqdm, and translation, with an extra, the runtime.
    assert needed_here - {"argcomplete", "tqdm", "weebill-runtime"} <= used


def test_each_command_names_its_extra(installed, bare, tmp_path):
    (tmp_path / "text").write_text("One.\n")
    extras = {
        "compare none": "train",
        "convert none new --to marian": "train",
        "import-marian none new --vocabulary none": "train",
        "score --model none -s text -t text": "metric",
        "mbr --model none -s text -t text --candidates 1": "metric",
        "export none.parquet --source text": "workflow",
        "benchmark generation": "all",
    }
    commands = [command.split() for command in extras]
    found, _ = run_commands(installed, commands, tmp_path, bare)
    for command, extra, (code, output, error) in zip(commands, extras.values(), found, strict=True):
        module = error.split("'")[1]
        assert (code, output, error) == (1, "", missing(command[0], module, extra))


INT8 = "import weebill.generation.compiled, weebill.generation.steps; weebill.load_int8"
FIGURES = "from weebill.report.figures import *; import snakemake_executor_plugin_slurm"


@pytest.mark.parametrize(
    ("extra", "then", "absent"),
    [
        pytest.param("train", "", "pandas scipy snakemake lightning", marks=pytest.mark.workflows),
        pytest.param("metric", "", "ctranslate2 snakemake lightning", marks=pytest.mark.workflows),
        pytest.param(
            *("generation", INT8, "ctranslate2 snakemake lightning"), marks=pytest.mark.workflows
        ),
        ("workflow", FIGURES, "torch transformers"),
    ],
)
def test_commands_and_modules_run_with_their_extra(
    installed, requirements, tmp_path, extra, then, absent
):
    packages = link(required(requirements, extra).values(), tmp_path / "packages")
    prepare(tmp_path)
    commands = [command.split() for command in COMMANDS[extra]]
    found, modules = run_commands(installed, commands, tmp_path, packages, then=then)
    for command, (code, output, errors) in zip(commands, found, strict=True):
        assert code == 0 and output, (command, errors)
    assert not {*absent.split()} & modules
