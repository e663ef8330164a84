"""Runs of the workflow from tests: Snakemake in a folder of its own, and the files that a run leaves."""

import atexit
import gc
import hashlib
import importlib
import multiprocessing.util
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from snakemake import benchmark
from snakemake.api import SnakemakeApi
from snakemake.cli import get_argument_parser, main
from snakemake.parser import parse
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript
from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings
from snakemake.workflow import Workflow

from tests.forking import fork
from weebill.configuration.schema import load_schema
from weebill.files import read_json, sha256_file, write_json

REPOSITORY = Path(__file__).parents[2]
TINY = Path(__file__).with_name("tiny.yaml")
CONFIGURATIONS = sorted(
    path for path in (REPOSITORY / "config").glob("*.yaml") if path.name != "models.yaml"
)
# Slow imports (seconds) of the jobs of a translation experiment.
TRANSLATION = (
    "altair",
    "torch.utils.tensorboard",
    "weebill.evaluation.timing.speed",
    "weebill.runtime.text",
    "weebill.translation.training.pruning_study",
)
# Modules that Snakemake and the rules of every run import.
RULES = (
    "langcodes.language_distance",
    "nbformat",
    "smart_open",
    "weebill.configuration.checking",
    "weebill.configuration.fetching",
    "weebill.corpus.cleaning_stages",
    "weebill.report.catalogue",
    "weebill.report.outcome",
    "weebill.report.tables.beside_papers.wngt20",
    "weebill.workflow.behind_ancient",
    "weebill.workflow.folder_lock",
    "weebill.workflow.parent_watch",
    "weebill.workflow.repository",
    "weebill.workflow.targets",
)
FORKING = threading.Lock()  # filelock, which libraries import, allows one fork at a time
PARSED = Path(tempfile.mkdtemp())  # Snakemake's parse of each file of rules
atexit.register(shutil.rmtree, PARSED)
# Files that differ between equal runs: measured times, logs of jobs, and the pages that show both.
TIMED = (
    "benchmarks/",
    "cards/",
    "evaluation/engines.json",
    "evaluation/gpu_speed.json",
    "evaluation/latency.json",
    "evaluation/speed.json",
    "evaluation/speed/",
    "figures/cometinho_figure",
    "figures/generation_front",
    "figures/speed/",
    "logs/",
    "provenance.html",
    "pruning.md",
    "report.html",
    "summary.md",
    "tables/claims_cometinho",
    "tables/cometinho_claims",
    "tables/generation_",
    "tables/speed/",
)
CARD = "README.md"  # in models and exports; it has measured times


def _warm_up() -> None:
    """Do once what takes half a second in every run: import what the rules need, and make schemas."""
    for name in RULES:
        importlib.import_module(name)
    get_argument_parser()
    for kind in ("models", "translation"):
        load_schema(kind)


_warm_up()


def snakemake_command(folder: Path, config: Path, *arguments: str) -> list[str]:
    """Return the command that runs the workflow with a configuration, with results below `folder`."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]
    command += ["--workflow-profile", str(REPOSITORY / "profiles/local")]
    command += ["--scheduler", "greedy"]  # the default starts a solver for each choice of jobs
    return [*command, "--directory", str(folder), "--configfile", str(config), *arguments]


def environment() -> dict[str, str]:
    """Return the environment with one thread per job, so that parallel tests do not compete for the cores."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def become_snakemake(output: int, *arguments: str) -> None:
    """Turn a fork into Snakemake; its jobs are forks too, and share all modules that this process has imported."""
    os.dup2(output, 1), os.dup2(output, 2)
    _open_output()
    sys.argv = ["snakemake", *arguments]
    gc.freeze()  # no job searches the imported modules for garbage
    benchmark.BENCHMARK_INTERVAL_SHORT = 10.0  # reading the memory of a large fork is slow
    # After each choice of jobs, a timer of a second would keep Snakemake waiting at its end.
    JobScheduler._schedule_reevalutation = lambda *_: None
    PythonScript.execute_script = _run_in_a_fork
    sys.modules[Workflow.__module__].parse = _parse_once
    main()


def become_new_snakemake(output: int, *arguments: str) -> None:
    """Replace a fork by Snakemake as users start it, with new processes for its jobs."""
    os.dup2(output, 1), os.dup2(output, 2)
    os.execv(sys.executable, [sys.executable, "-m", "snakemake", *arguments])


def snakemake(
    folder: Path,
    config: Path,
    *arguments: str,
    imported: Sequence[str] = (),
    become: Callable[..., None] = become_snakemake,
) -> subprocess.CompletedProcess:
    """Run the workflow to its end or an error; `.stdout` has stdout and stderr together.

    imported: modules that most of the run's jobs import.
    """
    for name in imported:
        importlib.import_module(name)
    return run_snakemake(*snakemake_command(folder, config, *arguments)[3:], become=become)


def run_snakemake(
    *arguments: str, become: Callable[..., None] = become_snakemake
) -> subprocess.CompletedProcess:
    """Run Snakemake with these arguments in a fork of this process."""
    with tempfile.TemporaryFile() as output:
        process = fork(become, output.fileno(), *arguments, **environment())
        process.join()
        output.seek(0)
        text = output.read().decode()
    return subprocess.CompletedProcess(arguments, process.exitcode, text)


def read_workflow(folder: Path, config: Path, read: Callable[[Workflow], Any]) -> Any:
    """Parse the workflow of a configuration in a fork and return what `read` finds in it; no job runs."""

    def run() -> None:
        with SnakemakeApi(OutputSettings()) as api:
            parsed = api.workflow(
                ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=[config]),
                snakefile=REPOSITORY / "Snakefile",
                workdir=folder,
            )
            write_json(folder / "found.json", read(parsed._workflow))

    reader = fork(run, **environment())
    reader.join()
    assert reader.exitcode == 0
    return read_json(folder / "found.json")


def _parse_once(path: Any, run: Workflow, linemap: dict[int, int], rulecount: int) -> Any:
    """Replace Snakemake's `parse`: parse each text of rules once for all runs with equally many rules before it."""
    with run.sourcecache.open(path) as file:
        text = f"{rulecount} {file.read()}"
    kept = PARSED / hashlib.sha256(text.encode()).hexdigest()
    if kept.exists():
        code, count, lines = read_json(kept)
        linemap |= lines
    else:
        code, count = parse(path, run, linemap, rulecount=rulecount)
        write_json(kept, [code, count, list(linemap.items())])
    return code, count


def _open_output() -> None:
    """Open stdout and stderr anew: the parent's may be pytest's, or locked by another thread."""
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))


def _run_in_a_fork(job: PythonScript, script: str, edit: bool = False) -> None:
    """Run a job's script as Snakemake's `PythonScript.execute_script` does, but in a fork, not in a new Python."""
    with FORKING:
        child = os.fork()
    if not child:
        _open_output()
        atexit._clear()
        sys.argv, code = [script], 1
        sys.path.insert(0, str(Path(script).parent))
        try:
            runpy.run_path(script, run_name="__main__")
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            multiprocessing.util._exit_function()  # ends workers
            atexit._run_exitfuncs()
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(code)
    record = job.bench_record
    with nullcontext() if record is None else benchmark.benchmarked(child, record):
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise subprocess.CalledProcessError(code, script)


def report_is_whole(results: Path, name: str = "report.html") -> bool:
    """Return True if a results folder has its whole report, to the last tag, and no partial one."""
    report = results / name
    whole = report.exists() and report.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return whole and not list(results.glob("*.partial*"))


def fingerprints(results: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a results folder that must be the same in equal runs, by path."""
    paths = {path.relative_to(results).as_posix(): path for path in results.rglob("*")}
    return {
        name: sha256_file(path)
        for name, path in sorted(paths.items())
        if path.is_file() and not name.startswith(TIMED) and path.name != CARD
    }
