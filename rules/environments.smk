"""The environments that cannot live beside the main one, made for whatever target needs them."""

import hashlib
from shlex import quote

from snakemake.settings.types import DeploymentMethod

BY_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method


def environment_of(name):
    """What a job of an environment waits for.  Its age says nothing: it is of the versions that are pinned."""
    return [] if BY_CONDA else [ancient(f".venvs/{name}/.installed")]


def versions_of(name):
    """A fingerprint of what is installed in an environment."""
    pins = Path(workflow.basedir) / "envs" / f"{name}.txt"
    return hashlib.sha256(pins.read_bytes()).hexdigest()[:16]


def python_of(name):
    """The command that starts the Python of an environment, which finds the library's modules.

    But none beside its script (-P): select.py there would pass for Python's own `select`.
    """
    python = "python" if BY_CONDA else f".venvs/{name}/bin/python"
    return f"PYTHONPATH={quote(str(workflow.basedir))} {python} -P"


rule environment:
    """A virtual environment from envs/NAME.txt; with `--sdm conda`, Snakemake's own serve instead."""
    input:
        requirements=Path(workflow.basedir) / "envs" / "{name}.txt",
        install=Path(workflow.basedir) / "envs" / "install.sh",
    output:
        touch(".venvs/{name}/.installed"),
    log:
        ".venvs/{name}.log",
    wildcard_constraints:
        name="comet|bicleaner",
    conda:
        "../envs/main.yaml"
    shell:
        "{input.install} {wildcards.name} .venvs/{wildcards.name} > {log} 2>&1"
