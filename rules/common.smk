"""Common parts of every kind of experiment: the checked configuration, its folders, and small functions."""

import hashlib
import re
import sys
from pathlib import Path
from shlex import quote

from snakemake.settings.types import DeploymentMethod

from weebill.configuration.checking import check
from weebill.configuration.zoo_file import load_zoo, with_own
from weebill.yaml_files import read_yaml
from weebill.errors import InputError
from weebill.experiment.origins import is_made
from weebill.workflow.behind_ancient import look_behind_ancient
from weebill.workflow.gpus import leave_to_scheduler
from weebill.workflow.parent_watch import announce_snakemake
from weebill.workflow.shell_paths import check_folder, check_python
from weebill.workflow.code_version import library_path
from weebill.workflow.repository import repository_of, show_library


def stop(message):
    """End the run before any job, with plain lines instead of a traceback."""
    sys.exit(message)


# Names of the configuration files in messages; an importing workflow may pass a dictionary instead of a file.
CONFIG_FILE = " + ".join(map(str, workflow.configfiles)) or "config of the module"
try:
    if workflow.resource_settings.cores == 0 and workflow.is_main_process:
        raise InputError(
            "--cores: found 0, expected 1 or more; no job could ever start"
        )
    check_python(sys.executable)
    # workflow.basedir is the folder of a workflow that imports this one as a module
    REPOSITORY = repository_of(workflow.current_basedir, workflow.sourcecache.open)
    for folder in (workflow.basedir, REPOSITORY):
        check_folder(str(folder))
    for path in workflow.configfiles:
        read_yaml(path)  # reject duplicate keys, which Snakemake's own reader accepts
    ZOO = load_zoo()
    config = check(config, CONFIG_FILE, ZOO)
    ZOO = with_own(ZOO, config)
except InputError as error:
    stop(str(error))

announce_snakemake()
if workflow.remote_exec:
    leave_to_scheduler()
look_behind_ancient()

RESULTS = Path("results") / config["experiment"]
MODELS = RESULTS / "models"
# Training text as pieces, shared by all trainings and removed when the experiment is complete.
ENCODED = RESULTS / "encoded"
EVALUATION = RESULTS / "evaluation"
TABLES = RESULTS / "tables"
FIGURES = RESULTS / "figures"
CARDS = RESULTS / "cards"
REPORT = RESULTS / "report.html"
PROVENANCE = RESULTS / "provenance.html"
LOGS = RESULTS / "logs"
BENCHMARKS = RESULTS / "benchmarks"

BY_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
if BY_CONDA:
    show_library(REPOSITORY, workflow.deployment_settings)


def process_threads():
    """Return the number of CPU threads of one process; the same number gives the same weights, bit for bit."""
    return config["hardware"]["threads"]


def training_threads():
    """Return the number of CPU threads of a training job, which has a process for each device."""
    return config["hardware"]["devices"] * process_threads()


def accelerators(count):
    """Return a job's accelerators as a resource of the Slurm executor."""
    return {"gpu": count} if config["hardware"]["accelerator"] == "gpu" else {}


def growing(mebibytes):
    """Return a job's memory, which grows by the same amount with each attempt."""
    return lambda wildcards, attempt: attempt * mebibytes


def present(paths):
    """Return the files that exist, or that the workflow makes from their origins.

    A dry run needs no data; it names missing files.  A real run stops before the first job if a file is missing.
    """
    return [path for path in paths if Path(path).exists() or is_made(path)]


def either(names):
    """Return a pattern that matches only the given names."""
    return "|".join(map(re.escape, names)) or "(?!)"


def fetched(sections):
    """Return the name on the hub and the commit of each section that has both."""
    return {
        name: (section["hugging_face"], section["revision"])
        for name, section in sections.items()
        if "revision" in section
    }


def environment_of(name):
    """Return the file that marks an environment as installed.

    Its age is ignored, because `versions_of` identifies the installed packages.
    """
    return [] if BY_CONDA else [ancient(f".venvs/{name}/.installed")]


def versions_of(name):
    """Return a fingerprint of the packages pinned for an environment."""
    pins = REPOSITORY / "envs" / f"{name}.txt"
    return hashlib.sha256(pins.read_bytes()).hexdigest()[:16]


def run_in(name, script):
    """Return the start of a shell command that runs a workflow script with the Python of an environment.

    Python finds the library's modules, but no modules in the script's folder (-P), because select.py there would hide
    Python's own `select`.  The command is not a parameter, because the job would then run again for a copy of the
    project or with --sdm conda.
    """
    python = "python" if BY_CONDA else f".venvs/{name}/bin/python"
    path = REPOSITORY / "workflow_scripts" / script
    return f"{library_path(REPOSITORY)} {python} -P {quote(str(path))} --log {{log:q}} "


def unrecorded(value):
    """Return a parameter, computed from the wildcards, whose change does not make the job run again.

    Snakemake does not record parameters that depend on the threads.
    """
    return lambda wildcards, threads: value(wildcards)


# Folders for fetched files and for the user's own files; they affect no row.
PLACES = unrecorded(
    lambda w: [config.get(key) for key in ("local_dir", "download_cache", "mirror")]
)
