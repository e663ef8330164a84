"""Every environment pins all its packages; the conda forms have the same pins."""

import re
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envs.conda import NAMES, conda_form
from tests.workflow.running import REPOSITORY, TINY, become_new_snakemake, snakemake

ENVIRONMENTS = REPOSITORY / "envs"

# Requirements of bicleaner's packages that are not installed: see envs/bicleaner.txt.
REPLACED = {"cyhunspell", "fasttext-wheel", "tensorflow"}

# A conda whose environments have all packages of this Python except the library, which is an editable install.
CONDA = """#!/bin/sh
case "$*" in
  "info --json") echo '{{"conda_prefix": "{base}", "platform": "linux-64"}}' ;;
  --version) echo "conda 99.1.1" ;;
  "config --get channel_priority --json") echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  "env create"*)
    while [ "$1" != --prefix ]; do shift; done
    mkdir -p "$2/bin"
    printf '#!/bin/sh\\n[ "$2" = pip ] && exit\\n' > "$2/bin/python"
    printf 'PYTHONPATH="$PYTHONPATH:{site}" exec {python} -S "$@"\\n' >> "$2/bin/python"
    chmod +x "$2/bin/python" ;;
esac
"""


def pins(name: str) -> list[str]:
    """Return the requirements of envs/NAME.txt."""
    lines = (ENVIRONMENTS / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


OPPONENTS = ("opusfilter", "bergamot", "pymarian", "fxtranslate")  # not part of the workflow


@pytest.mark.parametrize("name", [*NAMES, *OPPONENTS])
def test_every_version_is_pinned(name):
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins(name))


@pytest.mark.parametrize("name", ["main", "comet", "bicleaner", "opusfilter"])
def test_what_a_package_asks_for_is_pinned_too(name):
    folder = Path(sys.prefix) if name == "main" else REPOSITORY / ".venvs" / name
    if not folder.is_dir():
        pytest.skip(f"this environment is not here; envs/install.sh {name} {folder}")
    pinned = {canonicalize_name(pin.split("==")[0]) for pin in pins(name)}
    places = list(map(str, folder.glob("lib/python3*/site-packages")))
    asked = {
        canonicalize_name(requirement.name): distribution.name
        for distribution in distributions(path=places)
        # PyTorch's builds for GPUs require more.
        if canonicalize_name(distribution.name) in pinned - {"torch"}
        for requirement in map(Requirement, distribution.requires or [])
        if not requirement.marker or requirement.marker.evaluate({"extra": ""})
    }
    assert asked.keys() - pinned - REPLACED == set()


@pytest.mark.parametrize("name", NAMES)
def test_conda_form_is_fresh(name):
    remedy = "make conda, and commit envs/*.yaml"
    assert (ENVIRONMENTS / f"{name}.yaml").read_text() == conda_form(name), remedy


@pytest.mark.parametrize("name", NAMES)
def test_conda_form_agrees(name):
    content = yaml.safe_load((ENVIRONMENTS / f"{name}.yaml").read_text())
    pip = next(part["pip"] for part in content["dependencies"] if isinstance(part, dict))
    conda = [pin for pin in pip if not pin.startswith("--")]
    later = ENVIRONMENTS / f"{name}.post-deploy.sh"
    if later.exists():
        conda += re.findall(r"\S+==\S+", later.read_text())
    # install.sh adds the wheel of KenLM's programs to the main environment.
    added = ["bicleaner-hardrules==2.10.8"] if name == "main" else []
    assert sorted(conda) == sorted(pins(name) + added)


@pytest.mark.workflows
def test_jobs_in_environments_of_conda_find_the_library(tmp_path, monkeypatch):
    """Environments of conda lack the library, and Snakemake hides PYTHONPATH from them by default."""
    base = tmp_path / "base"
    (base / "bin").mkdir(parents=True)
    places = {"base": base, "python": sys.executable, "site": sysconfig.get_path("purelib")}
    (base / "bin/conda").write_text(CONDA.format(**places))
    (base / "bin/conda").chmod(0o755)
    (base / "bin/activate").write_text('export PATH="$1/bin:$PATH"\n')
    monkeypatch.setenv("PATH", f"{base}/bin", prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    options = ("--sdm", "conda", "--conda-frontend", "conda", "--cores", "1")
    options += ("--until", "import_test_set")
    run = snakemake(tmp_path, TINY, *options, become=become_new_snakemake)
    assert run.returncode == 0 and "Activating conda environment" in run.stdout, run.stdout
    assert (tmp_path / "results/tiny/test_sets/tatoeba_test.parquet").exists()
