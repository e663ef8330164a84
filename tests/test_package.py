"""The wheel holds the library's data and declares its imports; its installed commands run."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email.parser import BytesParser
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from tests.small_models import make_folder, make_vocabulary

ROOT = Path(__file__).parents[1]
# Run by the Python of other environments (envs/comet.txt, envs/bicleaner.txt), or by mtdata's own.
ELSEWHERE = (
    "weebill/corpus/bicleaner/",
    "weebill/corpus/importers/mtdata_index.py",
    "weebill/metric/libraries.py",
    "weebill/metric/regression.py",
)
BUILD = (
    "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
)
# Run commands, given as JSON on one line each, and print their exit codes, output and errors likewise.
RUN = """
import contextlib, io, json, sys
from weebill.__main__ import main
for line in sys.stdin.read().splitlines():
    output, errors = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"Her dog sleeps.\\n"))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = main(json.loads(line))
        except SystemExit as end:
            code = end.code
    found = [stream.buffer.getvalue().decode() for stream in (output, errors)]
    print(json.dumps([code, *found]), flush=True)
import weebill
print(json.dumps([weebill.__file__, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def build(hook: str, source: Path, folder: Path) -> Path:
    """Build the wheel of the sources by a hook of setuptools."""
    folder.mkdir()
    run(sys.executable, "-c", BUILD, hook, str(folder), cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(
    *command: str, cwd: Path, packages: Iterable[Path] = (), **more
) -> subprocess.CompletedProcess:
    """Run a command that finds the folders `packages` but not this checkout; it must not fail."""
    clean = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Make a folder with the sources of a wheel, named as a clone is."""
    folder = tmp_path_factory.mktemp("parent") / "weebill"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "weebill", folder / "weebill", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "Snakefile"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "config", folder / "config", symlinks=True)
    return folder


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    return build("build_wheel", sources, tmp_path_factory.mktemp("built") / "wheel")


@pytest.fixture(scope="module")
def told(wheel):
    """Return the wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return BytesParser().parsebytes(archive.read(name))


@pytest.fixture(scope="module")
def requirements(told):
    """Return the wheel's requirements."""
    return [Requirement(text) for text in told.get_all("Requires-Dist")]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Make a bare environment with only the wheel, and return its Python."""
    folder = tmp_path_factory.mktemp("bare")
    python = folder / "venv/bin/python"
    has_pip = find_spec("pip") is not None  # uv's environments have none
    bare = ["--without-pip"] if has_pip else []  # saves seconds
    run(sys.executable, "-m", "venv", *bare, str(folder / "venv"), cwd=folder)
    pip = [sys.executable, "-m", "pip", "--python"] if has_pip else [str(python), "-m", "pip"]
    pip += [str(python)] if has_pip else []
    run(*pip, "install", "-q", "--no-deps", "--no-index", str(wheel), cwd=folder)
    return python


def needed(requirement: Requirement) -> bool:
    """Return True if a requirement is needed here without extras."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def link(requirements: list[Requirement], folder: Path) -> None:
    """Make a folder of links to the distributions that are required, and to what those require."""
    folder.mkdir()
    waiting, seen = [one for one in requirements if needed(one)], set()
    while waiting:
        one = waiting.pop()
        key = (canonicalize_name(one.name), *sorted(one.extras))
        if key in seen:
            continue
        seen.add(key)
        found = metadata.distribution(one.name)
        extras = ["", *one.extras]
        for other in map(Requirement, found.requires or ()):
            if other.marker is None or any(other.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(other)
        for name in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            if not (folder / name).exists():
                (folder / name).symlink_to(found.locate_file(name))


def run_commands(
    python: Path, commands: list[list[str]], cwd: Path, *packages: Path
) -> tuple[list, str, set[str]]:
    """Return (exit code, output, errors) of each command, weebill's folder, and the imported top-level modules."""
    lines = "".join(f"{json.dumps(command)}\n" for command in commands)
    done = run(str(python), "-c", RUN, cwd=cwd, packages=packages, input=lines)
    *found, last = done.stdout.splitlines()
    place, modules = json.loads(last)
    return [json.loads(line) for line in found], place, set(modules)


def third_party(file: Path) -> set[str]:
    """Return the third-party top-level modules that a source file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"weebill"}


def test_the_wheel_holds_the_package_and_nothing_else(wheel, sources):
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    package = {file.relative_to(sources).as_posix(): file.read_bytes()
               for file in (sources / "weebill").rglob("*") if file.is_file()}  # fmt: skip
    for name in ("experiment/models.yaml", "configuration/schemas/metric.schema.json",
                 "kernels/csrc/bindings.cpp", "report/papers/wmt2021_table1.csv"):  # fmt: skip
        assert f"weebill/{name}" in package
    assert {name: text for name, text in held.items() if ".dist-info/" not in name} == package


def test_the_wheel_names_both_licences_and_holds_their_texts(wheel, told):
    assert told["License-Expression"] == "Apache-2.0 AND CC-BY-2.0"
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    for name in ("LICENSE", "NOTICE", "weebill/corpus/tatoeba/NOTICE.md"):
        assert any(path.endswith(f".dist-info/licenses/{name}") for path in held)
        assert name in told.get_all("License-File")


def test_config_links_to_the_package():
    for link, kept in (
        ("models.yaml", "experiment/models.yaml"),
        ("schema", "configuration/schemas"),
    ):
        assert (ROOT / "config" / link).samefile(ROOT / "weebill" / kept)
        assert not (ROOT / "config" / link).readlink().is_absolute()


def test_every_import_is_declared(requirements):
    declared = {canonicalize_name(one.name) for one in requirements}
    distributions = metadata.packages_distributions()
    undeclared = {}
    for file in [*(ROOT / "weebill").rglob("*.py"), *(ROOT / "workflow_scripts").rglob("*.py")]:
        if file.relative_to(ROOT).as_posix().startswith(ELSEWHERE):
            continue
        for module in third_party(file):
            owners = {canonicalize_name(name) for name in distributions.get(module, ())}
            beside = file.with_name(f"{module}.py")
            if not owners & declared and not beside.exists():
                undeclared[module] = file
    undeclared.pop("triton")  # comes with PyTorch for CUDA, and is used on GPUs only
    assert not undeclared


def test_the_pins_fulfil_the_requirements(requirements):
    lines = (ROOT / "envs/main.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if re.fullmatch(r"[\w.-]+==\S+", line))
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    for one in requirements:
        assert one.specifier.contains(pins[canonicalize_name(one.name)]), one
        assert {part.operator for part in one.specifier} == {">="}, f"{one}: no lower bound alone"


def test_alone_it_tells_its_version_and_what_is_missing(installed, tmp_path):
    script = str(installed.with_name("weebill"))
    assert run(script, "--version", cwd=tmp_path).stdout == f"{metadata.version('weebill')}\n"
    commands = [["--version"], ["--help"], ["mbrr"], ["translate", "--help"], ["describe", "tiny"]]
    commands.append(["translate", "none", "--nbest", "3"])
    found, place, _ = run_commands(installed, commands, tmp_path)
    assert Path(place).is_relative_to(installed.parents[1])
    assert [code for code, _, _ in found] == [0, 0, 2, 0, 1, 1]
    assert "minimum Bayes risk" in found[1][1]
    assert "invalid choice: 'mbrr'" in found[2][2]
    (line,) = found[4][2].splitlines()
    assert found[5][2] == "weebill: translate: --nbest 3 needs --beam 3 or more\n"
    assert re.match(r"weebill: the Python module '\w+' is not installed here; .*`make setup`", line)


def test_its_commands_run_with_what_it_asks_for(installed, requirements, tmp_path):
    link(requirements, tmp_path / "required")
    vocabulary = make_vocabulary(tmp_path / "vocab.spm")
    model = str(make_folder(tmp_path / "model", vocabulary, kind="attention"))
    metric = str(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    texts = {"src": SOURCES, "ref": REFERENCES, "out": SYSTEMS["good"]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    commands = [
        ["describe", "tiny"],
        ["describe", "tinny"],
        ["translate", model],
        ["compare", model],
        ["convert", model, "marian", "--to", "marian"],
        ["convert", model, "onnx", "--to", "onnx"],
        ["convert", model, "ctranslate2", "--to", "ctranslate2"],
        ["score", "--model", metric, "-s", "src", "-r", "ref", "-t", "out"],
        ["mbr", "--utility", "chrf", "-s", "src", "-t", "out", "--candidates", "1"],
        ["export", "none.parquet", "--source", "text"],
        ["lineage", "none"],
        ["benchmark", "runtime", "--help"],
        ["benchmark", "generation", "--help"],
        ["benchmark", "scoring"],
    ]
    found, place, modules = run_commands(installed, commands, tmp_path, tmp_path / "required")
    assert Path(place).is_relative_to(installed.parents[1])
    assert {"torch", "transformers", "onnxruntime", "pyarrow", "sacrebleu"} <= modules
    assert not {"snakemake", "lightning", "scipy", "pytest"} & modules
    ended = {" ".join(command[:2]): found for command, found in zip(commands, found, strict=True)}
    faulty = ("describe tinny", "export none.parquet", "lineage none", "benchmark scoring")
    for name, (code, output, errors) in ended.items():
        assert code == (name in faulty), (name, output, errors)
    assert "15,722,752" in ended["describe tiny"][1]
    zoo = Path(place).with_name("experiment") / "models.yaml"
    assert f"no model 'tinny' in {zoo}; did you mean 'tiny'?" in ended["describe tinny"][2]
    assert len(ended[f"translate {model}"][1].splitlines()) == 1
    assert "none.parquet: " in ended["export none.parquet"][2]
    assert "'kenlm' is not installed here" in ended["benchmark scoring"][2]


def test_a_clone_named_weebill_is_no_package(sources, tmp_path):
    wheel = build("build_editable", sources, tmp_path / "wheel")
    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv"), cwd=tmp_path)
    (site,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    python = str(tmp_path / "venv/bin/python")
    beside = run(python, "-m", "weebill", "--version", cwd=sources.parent)
    assert beside.stdout == f"{metadata.version('weebill')}\n"
    where = run(python, "-c", "import weebill; print(weebill.__file__)", cwd=sources.parent)
    assert Path(where.stdout.strip()).samefile(sources / "weebill/__init__.py")
