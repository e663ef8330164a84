"""Opponent in its own environment, on one core, which does one task after the other."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import psutil

from weebill.errors import InputError
from weebill.evaluation.timing.timer import pinned, rates_in_turn

# Program of every opponent; `body` is replaced by the opponent's lines, which define `work(task) -> JSON value`.
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
    """Process of another environment's Python on one processor; the end of its context ends the process."""

    def __init__(
        self, python: Path, body: str, *arguments: Path, folder: Path, option: str, environment: str
    ) -> None:
        """Start the process.

        body: lines that define `work`; they can use `arguments`.  folder: place for the answers.
        option: command line option that names `python`.  environment: name in envs/ of the opponent's environment.
        Raises InputError if this Python cannot run these lines.
        """
        self._answer, self._errors = folder / "answer.json", folder / "errors.txt"
        self._place, name = f"{option} {python}", environment
        self._remedy = (
            f"make its environment by `envs/install.sh {name} .venvs/{name}`, or name its Python"
        )
        try:
            with self._errors.open("w") as errors, pinned():  # its threads inherit the processor
                self._process = subprocess.Popen(
                    [python, "-c", WORKER.format(body=body), self._answer, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
                    text=True,
                )
        except OSError as error:
            raise InputError(f"{self._place}: {error.strerror}; {self._remedy}") from error
        self._wait("ready")

    def work(self, task: Any) -> Any:
        """Return the opponent's answer to a task; both are JSON values."""
        with suppress(BrokenPipeError):  # the process has ended, as is said below
            self._process.stdin.write(f"{json.dumps(task)}\n")
            self._process.stdin.flush()
        self._wait("done")
        return json.loads(self._answer.read_text())

    def seconds(self) -> float:
        """Return the processor time that the opponent has taken."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()

    def _wait(self, word: str) -> None:
        """Wait for the line `word`; libraries may print other lines.  Raises InputError if the process ends."""
        for line in self._process.stdout:
            if line.strip() == word:
                return
        said = self._errors.read_text(encoding="utf-8", errors="replace").strip()
        last = said.rpartition("\n")[2] or "it ended without a word"
        raise InputError(f"{self._place}: it cannot run the opponent ({last}); {self._remedy}")


def compete(
    ours: Mapping[str, Callable[[], Any]], opponent: Opponent, task: Any, amount: float, rounds: int
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Let each of our functions and the opponent do the same amount of work in turn.

    Returns the answers of the last round, and the rates per processor time of each round, by the names in `ours` and
    "opponent".
    """
    answers: dict[str, Any] = {}

    def answer(name: str, work: Callable[[], Any]) -> None:
        answers[name] = work()

    def clock() -> float:
        return time.process_time() + opponent.seconds()

    works = {**ours, "opponent": partial(opponent.work, task)}
    answering = {name: partial(answer, name, work) for name, work in works.items()}
    return answers, rates_in_turn(answering, amount, rounds, clock)
