"""unbabel-comet at work, in its own environment: it pins other packages."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import psutil

from goldcrest.errors import InputError

# Predicts as many systems as each line of its input says; their scores go to a file.
WORKER = """
import json, logging, sys, warnings
import torch
from comet import load_from_checkpoint
torch.set_num_threads(1)
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
checkpoint, task, answer = sys.argv[1:]
model = load_from_checkpoint(checkpoint, local_files_only=True)
model.set_embedding_cache()
with open(task, encoding="utf-8") as file:
    systems = json.load(file)
print("ready", flush=True)
for line in sys.stdin:
    model.retrieve_sentence_embedding.cache_clear()
    scores = [
        model.predict(samples, gpus=0, progress_bar=False).scores
        for samples in systems[: int(line)]
    ]
    with open(answer, "w") as file:
        json.dump(scores, file)
    print("done", flush=True)
"""


class Comet:
    """unbabel-comet with a checkpoint, as a context: its process ends with it.  It keeps to one processor."""

    def __init__(
        self,
        python: Path,
        checkpoint: Path,
        sources: Sequence[str],
        references: Sequence[str],
        systems: Sequence[Sequence[str]],
        folder: Path,
    ) -> None:
        """python: of the environment that has it.  folder: for its files.

        Raises InputError where this Python does not run it.
        """
        task, self._answer = folder / "task.json", folder / "answer.json"
        samples = [
            [
                {"src": source, "mt": translation, "ref": reference}
                for source, translation, reference in zip(sources, lines, references, strict=True)
            ]
            for lines in systems
        ]
        task.write_text(json.dumps(samples), encoding="utf-8")
        try:
            self._process = subprocess.Popen(
                [python, "-c", WORKER, checkpoint / "checkpoints/model.ckpt", task, self._answer],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
                text=True,
            )
        except OSError as error:
            raise InputError(f"--comet {python}: {error.strerror}; {_remedy(python)}") from error
        self._wait("ready")
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, [max(os.sched_getaffinity(0))])

    def score(self, count: int) -> list[np.ndarray]:
        """Scores (segments,) of the first systems."""
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        self._wait("done")
        return [np.array(one) for one in json.loads(self._answer.read_text())]

    def seconds(self) -> float:
        """Processor time that it has taken."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()

    def _wait(self, word: str) -> None:
        """For a line; Lightning writes others."""
        for line in self._process.stdout:
            if line.strip() == word:
                return
        python = self._process.args[0]
        raise InputError(f"--comet {python}: it cannot run unbabel-comet; {_remedy(python)}")


def _remedy(python: Path) -> str:
    return (
        f"make its environment by `envs/install.sh comet {python.parents[1]}`, or name its Python"
    )
