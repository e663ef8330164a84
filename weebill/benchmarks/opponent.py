"""An opponent at work in an environment of its own, on one core, one task after the other."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import psutil

from weebill.errors import InputError
from weebill.evaluation.timing.timer import rates_in_turn

# What every opponent does around its own lines, which define `work(task) -> JSON value`.
WORKER = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
answer, arguments = sys.argv[1], sys.argv[2:]
{body}
print("ready", flush=True)
for line in sys.stdin:
    found = work(json.loads(line))
    with open(answer, "w") as file:
        json.dump(found, file)
    print("done", flush=True)
"""


class Opponent:
    """A Python of another environment, as a context: its process ends with it.  It keeps to one processor."""

    def __init__(
        self,
        python: Path,
        body: str,
        *arguments: str | Path,
        folder: Path,
        option: str,
        environment: str,
    ) -> None:
        """body: lines that define `work`; they see `arguments`.  folder: for its answers.

        option, environment: what names `python`, and the environment of envs/ that has the opponent.
        Raises InputError where this Python does not run these lines.
        """
        self._answer, self._errors = folder / "answer.json", folder / "errors.txt"
        self._option, self._environment = option, environment
        try:
            with self._errors.open("w") as errors:
                self._process = subprocess.Popen(
                    [python, "-c", WORKER.format(body=body), self._answer, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
                    text=True,
                )
        except OSError as error:
            raise InputError(f"{option} {python}: {error.strerror}; {self._remedy()}") from error
        self._wait("ready")
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, [max(os.sched_getaffinity(0))])

    def work(self, task: Any) -> Any:
        """What it answers to a task, a JSON value both."""
        self._process.stdin.write(f"{json.dumps(task)}\n")
        self._process.stdin.flush()
        self._wait("done")
        return json.loads(self._answer.read_text())

    def seconds(self) -> float:
        """Processor time that it has taken."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()

    def _wait(self, word: str) -> None:
        """For a line; libraries write others."""
        for line in self._process.stdout:
            if line.strip() == word:
                return
        python = self._process.args[0]
        said = self._errors.read_text(encoding="utf-8", errors="replace").strip()
        last = said.rpartition("\n")[2] or "it ended without a word"
        raise InputError(
            f"{self._option} {python}: it cannot run the opponent ({last}); {self._remedy()}"
        )

    def _remedy(self) -> str:
        name = self._environment
        return f"make its environment by `envs/install.sh {name} .venvs/{name}`, or name its Python"


class Competition(NamedTuple):
    """answers: of each of ours and, as "opponent", the other's, from the last round.  Rates: one a round."""

    answers: dict[str, Any]
    ours: dict[str, list[float]]
    other: list[float]


def compete(
    ours: Mapping[str, Callable[[], Any]],
    opponent: Opponent,
    task: Any,
    amount: float,
    rounds: int,
) -> Competition:
    """Each of ours and the opponent do the same amount of work in turn; rates are of processor time."""
    answers: dict[str, Any] = {}

    def answer(name: str, work: Callable[[], Any]) -> None:
        answers[name] = work()

    works = {**ours, "opponent": partial(opponent.work, task)}
    rates = rates_in_turn(
        {name: partial(answer, name, work) for name, work in works.items()},
        amount,
        rounds,
        clock=lambda: time.process_time() + opponent.seconds(),
    )
    other = rates.pop("opponent")
    return Competition(answers, rates, other)
