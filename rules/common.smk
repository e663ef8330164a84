"""What every kind of experiment shares: the checked configuration, its folders, and a few small functions."""

import hashlib
import sys
from pathlib import Path
from shlex import quote

from snakemake.settings.types import DeploymentMethod

from weebill.configuration.checking import check
from weebill.configuration.zoo_file import load_zoo
from weebill.yaml_files import read_yaml
from weebill.errors import InputError
from weebill.workflow.parent_watch import announce_snakemake
from weebill.workflow.rule_code import library_path
from weebill.workflow.shell_paths import check_folder, check_python


def stop(message):
    """End the run before any job, with plain lines instead of a traceback."""
    sys.exit(message)


# Where this workflow lies; workflow.basedir is the folder of the one that imports it as a module.
REPOSITORY = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
# The place that messages name: an importing workflow may give its module a dictionary.
CONFIG_FILE = str(
    workflow.configfiles[-1] if workflow.configfiles else "config of the module"
)
try:
    check_python(sys.executable)
    for folder in (workflow.basedir, REPOSITORY):
        check_folder(str(folder))
    for path in workflow.configfiles:
        read_yaml(path)  # Snakemake's own reader lets a key stand twice
    ZOO = load_zoo()
    config = check(config, CONFIG_FILE, ZOO)
except InputError as error:
    stop(str(error))

announce_snakemake()

RESULTS = Path("results") / config["experiment"]
MODELS = RESULTS / "models"
EVALUATION = RESULTS / "evaluation"
TABLES = RESULTS / "tables"
FIGURES = RESULTS / "figures"
REPORT = RESULTS / "report.html"
LOGS = RESULTS / "logs"
BENCHMARKS = RESULTS / "benchmarks"

BY_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method


def process_threads():
    """CPU threads of one process; the same number gives the same weights, bit for bit."""
    return config["hardware"]["threads"]


def training_threads():
    """CPU threads of one training job, which has a process for each device."""
    return config["hardware"]["devices"] * process_threads()


def accelerators(count):
    """Accelerators of a job, in the words of the Slurm executor."""
    return {} if config["hardware"]["accelerator"] == "cpu" else {"gpu": count}


def growing(mebibytes):
    """Memory of a job, as much more again at each further attempt."""
    return lambda wildcards, attempt: attempt * mebibytes


def present(paths):
    """The user's own files that are there: a dry run needs no data, and names what is missing; a run stops first."""
    return [path for path in paths if Path(path).exists()]


def environment_of(name):
    """What a job of an environment waits for.  Its age says nothing: `versions_of` tells what is installed."""
    return [] if BY_CONDA else [ancient(f".venvs/{name}/.installed")]


def versions_of(name):
    """A fingerprint of what is installed in an environment."""
    pins = REPOSITORY / "envs" / f"{name}.txt"
    return hashlib.sha256(pins.read_bytes()).hexdigest()[:16]


def run_in(name, script):
    """Start a shell command: a workflow script by the Python of an environment, which finds the library's modules.

    But none beside its script (-P): select.py there would pass for Python's own `select`.  This is no parameter:
    a copy of the project, or --sdm conda, would rerun the job.
    """
    python = "python" if BY_CONDA else f".venvs/{name}/bin/python"
    path = REPOSITORY / "workflow_scripts" / script
    return f"{library_path(REPOSITORY)} {python} -P {quote(str(path))} --log {{log:q}} "


def unrecorded(value):
    """Make a parameter, of a function of the wildcards, that may change without rerunning the job.

    Snakemake does not record parameters that depend on the threads.
    """
    return lambda wildcards, threads: value(wildcards)


# Where files are fetched to and looked for, which decides no row.
PLACES = unrecorded(lambda w: [config.get("local_dir"), config.get("download_cache")])
