"""Encoding of many sentence pairs by several processes, in the order of the pairs.

`python -m weebill.translation.training.pieces VOCABULARY…` is one of these processes: it reads and writes pickled
parts through its standard input and output, and ends with the process that started it.
"""

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import IO

import numpy as np

from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary, read_vocabulary

Pairs = tuple[list[str], list[str]]  # sources and targets
# Pieces of all sentences, each with EOS last, and the number of pieces of each sentence.
Joined = tuple[np.ndarray, np.ndarray]


def encoded(
    parts: Iterator[Pairs], vocabulary: AnyVocabulary, processes: int = 1
) -> Iterator[list[Joined]]:
    """Yield source and target of each part as pieces.

    Raises subprocess.CalledProcessError if one of several processes fails; its message is in the log.
    """
    if processes == 1:
        yield from (_encode(part, vocabulary) for part in parts)
        return
    files = [str(one.path) for one in vocabulary.files.values()]
    command = [sys.executable, "-m", "weebill.translation.training.pieces", *files]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            for _ in range(processes)
        ]
        # Leaving the block closes the standard input of each, which ends it.
        waiting: deque[subprocess.Popen] = deque()
        for number, part in enumerate(parts):
            worker = workers[number % processes]
            if len(waiting) == processes:  # a worker has one part at a time: take its result first
                yield _read(waiting.popleft())
            _write(worker, part)
            waiting.append(worker)
        while waiting:
            yield _read(waiting.popleft())


def _write(worker: subprocess.Popen, part: Pairs) -> None:
    try:
        pickle.dump(part, worker.stdin, pickle.HIGHEST_PROTOCOL)
        worker.stdin.flush()
    except BrokenPipeError:
        raise subprocess.CalledProcessError(worker.wait(), worker.args) from None


def _read(worker: subprocess.Popen) -> list[Joined]:
    try:
        return pickle.load(worker.stdout)
    except EOFError:
        raise subprocess.CalledProcessError(worker.wait(), worker.args) from None


def _encode(part: Pairs, vocabulary: AnyVocabulary) -> list[Joined]:
    return [
        joined(getattr(vocabulary, side).encode(text))
        for side, text in zip(SIDES, part, strict=True)
    ]


def joined(lists: Sequence[Sequence[int]]) -> Joined:
    """Return concatenated lists of numbers, uint32, and their lengths."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    flat = np.fromiter(chain.from_iterable(lists), np.uint32, lengths.sum())
    return flat, lengths


def _work(vocabulary: AnyVocabulary, read: IO[bytes], write: IO[bytes]) -> None:
    """Encode the parts of one stream into another, until it ends."""
    while True:
        try:
            part = pickle.load(read)
        except EOFError:
            return
        pickle.dump(_encode(part, vocabulary), write, pickle.HIGHEST_PROTOCOL)
        write.flush()


if __name__ == "__main__":
    _work(read_vocabulary(*sys.argv[1:]), sys.stdin.buffer, sys.stdout.buffer)
