"""Interrupt runs at random moments, in every way, rerun, and compare with undisturbed runs, byte for byte.

python tests/workflow/kill.py --kills 100
python tests/workflow/kill.py --config config/demo.yaml --kills 5 --new --longest 60

Without a configuration, small experiments of each kind run in turn, until there were enough interruptions.  Model
files and tables must be equal, the report must be whole, and no process may outlive its run; measured times, logs and
the report, which shows them, may differ.  All runs write below one folder.  The script prints its name at the start,
and removes it after success.  It writes the counts to --json, if given.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from tests.reliability import provenance
from tests.workflow.interruptions import WAYS, differences, interrupted_run
from tests.workflow.running import (
    REPOSITORY,
    TINY,
    TRANSLATION,
    become_new_snakemake,
    become_snakemake,
    fingerprints,
    report_is_whole,
    snakemake,
)
from tests.workflow.small_runs import generation_experiment, metric_experiment, write_experiment

IMPORTED = ("weebill.metric.scorer", "weebill.generation.steps", *TRANSLATION)
MOST = 12  # interruptions of one run, so that it makes progress
LONGEST = 12.0  # seconds until the next interruption


def small_experiments(folder: Path) -> Iterator[Path]:
    """Write a small experiment of each kind and its inputs; yield the paths of the configurations."""
    yield TINY
    for make in (metric_experiment, generation_experiment):
        place = folder / make.__name__
        place.mkdir()
        yield write_experiment(place / "small.yaml", make(place))


class Campaign:
    """Interrupted runs of one configuration, compared with an undisturbed one.

    become: as for `snakemake`, for the interrupted runs.
    """

    def __init__(self, config: Path, place: Path, cores: int, become: Callable[..., None]):
        self.config, self.place, self.become = config, place, become
        self.cores = ["--cores", str(cores)]
        self.results = f"results/{yaml.safe_load(config.read_text('utf-8'))['experiment']}"
        run = snakemake(self._folder("undisturbed"), config, *self.cores, imported=IMPORTED)
        assert run.returncode == 0, run.stdout
        self.expected = fingerprints(place / "undisturbed" / self.results)
        print(f"{config}: {len(self.expected)} files", flush=True)

    def interrupt(self, number: int, plan: list[tuple[float, str]]) -> tuple[int, list[str]]:
        """Run with interruptions; return their number before the run ended, and the files that differ."""
        folder = self._folder(f"interrupted-{number}")
        run, told = interrupted_run(folder, self.config, plan, *self.cores, become=self.become)
        assert run.returncode == 0, run.stdout
        whole = report_is_whole(folder / self.results)
        differing = differences(self.expected, fingerprints(folder / self.results))
        return told, [*differing, *([] if whole else ["no whole report"])]

    def _folder(self, name: str) -> Path:
        """Return a new folder, with the files that the configuration names by relative paths."""
        folder = self.place / name
        folder.mkdir(parents=True)
        if not self.config.is_relative_to(REPOSITORY):
            for path in self.config.parent.iterdir():
                (folder / path.name).symlink_to(path)
        return folder


def main() -> int:
    """Run undisturbed, run with interruptions, compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, help="default: small experiments of all kinds")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0, help="of the moments and ways")
    parser.add_argument(
        "--new", action="store_true", help="new processes, as users start them, not forks"
    )
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds without one")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="weebill-kill-"))
    print(f"all runs go below {place}", flush=True)
    configs = [given.config.resolve()] if given.config else [*small_experiments(place)]
    become = become_new_snakemake if given.new else become_snakemake
    campaigns = [
        Campaign(config, place / f"runs-{number}", given.cores, become)
        for number, config in enumerate(configs)
    ]
    chance, count, runs, failed = random.Random(given.seed), Counter[str](), 0, 0
    while count.total() < given.kills:
        most = min(MOST, given.kills - count.total())
        plan = [(chance.uniform(0.3, given.longest), chance.choice([*WAYS])) for _ in range(most)]
        told, differing = campaigns[runs % len(campaigns)].interrupt(runs, plan)
        count.update(way for _, way in plan[:told])
        runs, failed = runs + 1, failed + bool(differing)
        ended = "equal" if not differing else f"these differ: {', '.join(differing)}"
        print(f"run {runs}, {count.total()} interruptions: {ended}", flush=True)
    if given.json:
        found = {
            **provenance(given.seed),
            "ways": dict(count),
            "runs": runs,
            "differing_runs": failed,
        }
        found["files"] = sum(len(one.expected) for one in campaigns)
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{count.total()} interruptions of {runs} runs: {runs - failed} ended in equal files")
    if not failed:
        shutil.rmtree(place)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
