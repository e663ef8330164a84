"""Each extra declares exactly what its modules import; the lock has exactly what the extras require."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.package.installing import ROOT, required
from weebill.distributions import is_needed
from weebill.workflow.import_closure import read_project

# Modules that run in other environments (envs/comet.txt, envs/bicleaner.txt, mtdata's).
ELSEWHERE = (
    "tests/metric/killed_training.py",
    "tests/metric/oracle.py",
    "weebill/corpus/bicleaner/",
    "weebill/corpus/importers/mtdata_index.py",
    "weebill/metric/libraries.py",
    "weebill/metric/regression",
)
# First parts of the names of each extra's modules and scripts.
PARTS = {
    "train": (
        "weebill.commands.translate",
        "weebill.commands.compare",
        "weebill.commands.convert",
        "weebill.commands.import_marian",
        "weebill.translation.",
        "weebill.runtime.",
        "workflow_scripts/vocabulary/",
        "workflow_scripts/teacher/",
        "workflow_scripts/student/",
        "workflow_scripts/distil/",
        "workflow_scripts/prune/",
        "workflow_scripts/quantize/",
        "workflow_scripts/shortlist/",
        "workflow_scripts/export/",
    ),
    "metric": (
        "weebill.commands.score",
        "weebill.commands.mbr",
        "weebill.metric.",
        "workflow_scripts/metric/",
    ),
    "generation": ("weebill.generation.", "workflow_scripts/generation/"),
    "workflow": (
        "weebill.commands.export",
        "weebill.commands.lineage",
        "weebill.corpus.",
        "workflow_scripts/corpus/",
        "workflow_scripts/report/",
        "weebill.workflow.behind_ancient",
        "weebill.workflow.configuration_files",
        "weebill.workflow.terminal",
    ),
}
# Packages that are needed without an import in these modules, and what needs them.
WITHOUT_IMPORT = {
    "train": {
        "sacrebleu": "its extras of Japanese and Korean",
        "tensorboard": "lightning's log",
    },
    "generation": {"accelerate": "transformers"},
    "workflow": {
        "eflomal": "a program that aligns words",
        "snakemake": "the program that runs all",
        "snakemake-executor-plugin-cluster-generic": "profiles/cluster",
        "snakemake-executor-plugin-slurm": "profiles/slurm",
        "vl-convert-python": "altair, for pictures",
    },
}


packages_distributions = cache(metadata.packages_distributions)


@cache
def third_party(file: Path) -> set[str]:
    """Return the third-party top-level modules that a source file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"weebill", "tests", "envs", "docs"}


def imported(files: Iterable[Path]) -> set[str]:
    """Return the distributions that files import, except those of other environments."""
    owners, found = packages_distributions(), set()
    for file in files:
        if not file.relative_to(ROOT).as_posix().startswith(ELSEWHERE):
            for module in third_party(file):
                if module in owners or not file.with_name(f"{module}.py").exists():
                    found.add(canonicalize_name(owners.get(module, [module])[0]))
    return found - {"triton"}  # part of PyTorch for CUDA, and only used on GPUs


def names(requirements: Iterable[Requirement]) -> set[str]:
    return {canonicalize_name(one.name) for one in requirements}


def pins() -> dict[str, str]:
    """Return the version of each distribution in envs/main.txt."""
    lines = (ROOT / "envs/main.txt").read_text(encoding="utf-8").splitlines()
    found = [line.split("==") for line in lines if re.fullmatch(r"[\w.-]+==\S+", line)]
    return {canonicalize_name(name): version for name, version in found}


def test_every_import_is_declared(requirements):
    files = [*(ROOT / "weebill").rglob("*.py"), *(ROOT / "workflow_scripts").rglob("*.py")]
    assert imported(files) <= names(requirements)


@pytest.mark.parametrize("extra", PARTS)
def test_an_extra_has_what_its_modules_import_and_no_more(requirements, extra):
    project = read_project(ROOT)
    starts = [name for name in project.sources if name.startswith(PARTS[extra])]
    files = [ROOT / project.sources[name].path for name in project.closure(*starts)]
    bare = names(one for one in requirements if is_needed(one))
    own = names(one for one in requirements if one.marker and is_needed(one, [extra]))
    assert own == (imported(files) - bare) | WITHOUT_IMPORT.get(extra, {}).keys()


def test_all_has_every_extra(told, requirements):
    (whole,) = [one for one in requirements if one.name == "weebill"]
    assert whole.extras == PARTS.keys()
    assert {*told.get_all("Provides-Extra")} == {"all", *PARTS}


def test_the_lock_is_what_the_package_and_its_tests_require(requirements):
    with (ROOT / "pyproject.toml").open("rb") as file:
        tools = list(map(Requirement, tomllib.load(file)["dependency-groups"]["dev"]))
    engine = {"weebill-runtime"}  # built from this checkout
    assert pins().keys() == required([*requirements, *tools], "all").keys() - engine
    assert imported((ROOT / "tests").rglob("*.py")) <= pins().keys() | engine


def test_the_pins_fulfil_the_requirements(requirements):
    for one in requirements:
        if one.name not in ("weebill", "weebill-runtime"):
            assert one.specifier.contains(pins()[canonicalize_name(one.name)]), one
            assert ">=" in {part.operator for part in one.specifier}, f"{one}: no lower bound"
