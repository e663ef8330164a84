"""Shortened experiments of each kind, through every rule that uses a GPU.

python -m tests.gpu.experiments KIND FOLDER --device gpu

Jobs are forks of this process, which has imported the libraries once and has not used the GPU.  Rules whose
environments need a network are left out: training of metrics by unbabel-comet, and bicleaner.
"""

import argparse
import csv
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.metric.small import make_checkpoint, make_encoder
from tests.workflow.running import TINY, TRANSLATION, report_is_whole, snakemake
from tests.workflow.small_runs import (
    generation_experiment,
    metric_distillation,
    metric_experiment,
    write_experiment,
)
from weebill.files import write_json

LINES = 60  # last lines of a failed job's log
FAILED = re.compile(r"^Failed: (.+) \(rule \w+\); log: (\S+)", re.MULTILINE)
RESULT = "result.json"


class Run(NamedTuple):
    """Snakemake run: its configuration, targets (by default all), and modules that its jobs import."""

    config: dict[str, Any]
    targets: Sequence[str] = ()
    imported: Sequence[str] = ()


def translation(folder: Path) -> list[Run]:
    """Return the smallest experiment with all models that can train or translate: reverse models, COMET and so on."""
    make_checkpoint(folder / "comet", make_encoder(folder / "encoder"))
    config = yaml.safe_load(TINY.read_text("utf-8"))
    config["corpora"]["tatoeba"] = {"importer": "tatoeba", "pairs": 600}
    config["corpora"]["german"] = {"importer": "tatoeba", "use": "monolingual-target", "pairs": 60}
    # With so many updates, translations are not empty on any device.
    speaks = {**config["teacher"]["training"], "updates": 150, "validate_every": 150}
    config["teacher"] |= {"members": 1, "training": speaks, "back_translated": True}
    config["reverse_teacher"] = {"architecture": "demo.micro", "training": speaks}
    config["back_translation"] = {"scores": {"reverse_model": {"cut": {"percent": 10}}}}
    config["distillation"]["scores"] = {"reverse_model": {"cut": {"percent": 10}}}
    config["scoring"] = {"reverse_model": {"architecture": "demo.micro", "training": speaks}}
    config["evaluation"] |= {
        "cleaning": {"student": "demo.micro"},
        "comet": {"model": str(folder / "comet"), "encoder": str(folder / "encoder")},
        "mbr": {"candidates": 4},
    }
    timed = {"corpus": "english", "sentences": 30}
    config["evaluation"]["speed"] |= {"gpu_batch_sizes": [4, 16], "gpu_text": timed}
    return [Run(config, imported=TRANSLATION)]


def metric(folder: Path) -> list[Run]:
    """Return runs for a pruned metric, and for the text of a distilled metric."""
    config = metric_experiment(folder)
    config["evaluation"]["speed"]["candidates"] = [2]
    distilled = {**config, "distillation": metric_distillation(folder)}
    made = [f"results/small/distillation/{name}.parquet" for name in ("en-de/tuples", "training")]
    pretraining = {"by": "pretraining", "layers": 1, "heads": 2, "width": 16, "intermediate": 32}
    pretraining |= {"updates": 20, "batch_pieces": 1024, "warmup": 5, "checkpoint_every": 10}
    encoder = {
        **config,
        "experiment": "encoder",
        "texts": ["pairs.source", "pairs.target"],
        "vocabulary": 300,
        "encoders": {**config["encoders"], "made": pretraining},
    }
    return [
        Run(config, imported=TRANSLATION),
        Run(distilled, made),
        Run(encoder, ["results/encoder/encoders/made"]),
    ]


def generation(folder: Path) -> list[Run]:
    """Return a run with all steps of a summarizer and a language model."""
    config = generation_experiment(folder)
    return [Run(config, imported=["altair", "weebill.generation.steps"])]


KINDS: dict[str, Callable[[Path], list[Run]]] = {
    "translation": translation,
    "metric": metric,
    "generation": generation,
}


def run_kind(kind: str, folder: Path, device: str, cores: int) -> dict[str, Any]:
    """Run the experiments of a kind; return seconds by rule, and the ends of failed jobs' logs."""
    folder.mkdir(parents=True)
    runs, rules, failures, began = KINDS[kind](folder), {}, {}, time.monotonic()
    for number, run in enumerate(runs):
        config = {**run.config, "hardware": {"accelerator": device, "devices": 1, "threads": 2}}
        file = write_experiment(folder / f"{kind}-{number}.yaml", config)
        options = ["--cores", str(cores), "--keep-going", "--nocolor"]
        targets = ["--", *run.targets] if run.targets else []
        done = snakemake(folder, file, *options, *targets, imported=run.imported)
        (folder / f"{kind}-{number}.log").write_text(done.stdout, encoding="utf-8")
        results = folder / "results" / config["experiment"]
        if done.returncode:
            failures |= failures_of(done.stdout, folder) or {f"run {number}": ended(done.stdout)}
        elif not run.targets and not report_is_whole(results):
            failures[f"run {number}"] = f"{results}: no whole report\n{ended(done.stdout)}"
        rules |= rule_seconds(results / "benchmarks")
    seconds = time.monotonic() - began
    return {"seconds": round(seconds, 1), "rules": rules, "failures": failures}


def failures_of(output: str, folder: Path) -> dict[str, str]:
    """Return the end of the log of each failed job named in the output; if a log is missing, that of the output."""
    found = {}
    for job, log in FAILED.findall(output):
        path = folder / log
        text = path.read_text("utf-8", "replace") if path.is_file() else output
        found[job] = ended(text)
    return found


def ended(text: str) -> str:
    """Return the last lines of a text."""
    return "\n".join(text.splitlines()[-LINES:])


def rule_seconds(benchmarks: Path) -> dict[str, float]:
    """Return the seconds of all jobs of each rule, from Snakemake's benchmark files."""
    found: dict[str, float] = {}
    for path in sorted(benchmarks.rglob("*.tsv")):
        rule = path.relative_to(benchmarks).parts[0].removesuffix(".tsv")
        with path.open(encoding="utf-8") as file:
            seconds = sum(float(row["s"]) for row in csv.DictReader(file, delimiter="\t"))
        found[rule] = round(found.get(rule, 0.0) + seconds, 1)
    return found


def main() -> int:
    """Run one kind; write result.json into the folder; return 1 if a job failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=["rehearsal", "gpu"], default="gpu")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    found = run_kind(given.kind, given.folder, given.device, given.cores)
    write_json(given.folder / RESULT, found)
    for name, log in found["failures"].items():
        print(f"{given.kind}: {name} failed:\n{log}\n", flush=True)
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
