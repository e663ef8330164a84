"""The Dockerfile, without a container engine: its files exist and suffice, and its commands are accepted."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from envs.conda import NAMES
from tests.workflow.running import REPOSITORY, run_snakemake
from tests.workflow.test_environments import pins

TEXT = (REPOSITORY / "envs/Dockerfile").read_text()
JOINED = re.sub(r"\\\n\s*", "", TEXT)
STEPS = re.findall(r"^([A-Z]+) +(.+)$", JOINED, re.MULTILINE)
# A Python that makes environments whose pip writes its arguments into a file.
PYTHON = """#!/bin/sh
[ "$1" = -m ] || exec {python} "$@"
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" >> {folder}/installed\\n' > "$3/bin/pip"
chmod +x "$3/bin/pip"
"""


def arguments(step: str) -> list[str]:
    return [text for name, text in STEPS if name == step]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Return a folder with the files that the Dockerfile copies into the image."""
    folder = tmp_path_factory.mktemp("image") / "weebill"
    folder.mkdir()
    for copy in arguments("COPY"):
        *sources, target = [word for word in copy.split() if not word.startswith("--")]
        for source in sources:
            place = REPOSITORY / source
            if place.is_dir():  # Docker copies a folder's contents
                shutil.copytree(place, folder / target, symlinks=True)
            else:
                assert target == "./"
                shutil.copy(place, folder)
    return folder


def test_it_says_that_it_is_untested_and_runs_as_a_user():
    assert TEXT.startswith("# Untested: ")
    names = [name for name, _ in STEPS]
    assert names[0] == "FROM" and names[-1] == "CMD"
    (user,) = arguments("USER")
    assert user != "root" and f"useradd --create-home {user} " in arguments("RUN")[0]
    assert all(f"--chown={user}" in copy for copy in arguments("COPY"))
    for command in arguments("RUN"):
        assert subprocess.run(["bash", "-n", "-c", command]).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_its_commands_make_each_environment(image, name, tmp_path):
    """The installer has all files that it needs, accepts its arguments, and installs the lock."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "chmod", "dirname", "mkdir", "realpath", "sh", "sync"):  # but no uv
        (tools / tool).symlink_to(shutil.which(tool))
    (tools / "python3").write_text(PYTHON.format(python=sys.executable, folder=tmp_path))
    (tools / "python3").chmod(0o755)
    command = arguments("RUN")[-1].replace("/opt/environment", f"{tmp_path}/environment")
    variables = {"PATH": str(tools), "ENVIRONMENT": name, "TORCH_INDEX": "an-index"}
    done = subprocess.run(
        ["bash", "-ec", command], cwd=image, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, *more = (tmp_path / "installed").read_text().splitlines()
    assert first.startswith(f"install -r {image}/envs/{name}.txt")
    assert [re.search(r"\S+/envs/\.\.\S*", line)[0] for line in more[1:]] == (
        [f"{image}/envs/..", f"{image}/envs/../runtime"] if name == "main" else []
    )


def test_the_workflow_in_it_is_whole(image, tmp_path):
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    for pattern in project["packages"]["find"]["include"]:
        packages = [path.parent for path in REPOSITORY.glob(f"{pattern}/__init__.py")]
        assert packages and all((image / path.name).is_dir() for path in packages)
    variables = dict(one.split("=", 1) for one in arguments("ENV"))
    assert variables["PATH"].split(":")[0].removesuffix("/bin") in shlex.split(arguments("RUN")[-1])
    snakefile = ["--snakefile", str(image / "Snakefile"), "--directory", str(tmp_path)]
    config = ["--configfile", str(image / "config/demo.yaml")]
    run = run_snakemake(*snakefile, *config, "--dry-run", "--quiet", "rules")
    assert run.returncode == 0, run.stdout
    assert any(pin.startswith("snakemake==") for pin in pins("main"))
    for link in filter(os.path.islink, image.rglob("*")):
        assert link.exists(), link
