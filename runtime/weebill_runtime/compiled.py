"""Student in the compiled engine, and the choice of its instruction set."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from weebill_runtime.engines import NEEDS, available, engine, has_bfloat16
from weebill_runtime.errors import InputError, nearest
from weebill_runtime.packing import VECTOR, Packer, Parts, fits_engine
from weebill_runtime.weights import Weights

Sources = Sequence[Sequence[int]]


def packed(weights: Weights, isa: str, precision: str = "float32") -> tuple[type, Parts]:
    """Return the engine's class for a student and the parts that it takes.

    precision: type of the products of weights that are not int8: float32 or bfloat16.
    Raises InputError if the engine, or the processor, cannot compute with them.
    """
    width = weights.architecture.embedding
    if width % VECTOR:
        raise InputError(
            f"the runtime wants an embedding width that is a multiple of {VECTOR}, this student's is {width}; use "
            "its portable path"
        )
    numbers = "int8" if weights.integer else precision
    if numbers == "bfloat16" and not has_bfloat16(isa):
        raise InputError(
            f"the runtime's instruction set '{isa}' has no products in bfloat16 on this processor; use float32, or "
            "its portable path"
        )
    return getattr(engine(isa), f"{numbers.capitalize()}Student"), Packer(
        weights, numbers
    ).network()


class Engine:
    """Student that translates batches greedily; one thread uses it at a time."""

    def __init__(self, kind: type, parts: Parts):
        """Take the results of `packed`; several engines may share the parts."""
        self.student = kind(parts)
        self._width = parts["embedding"]["weight"].shape[1]
        self._room = 0

    def reserve(self, positions: int) -> None:
        """Prepare for sources and translations of up to `positions` pieces, ends included."""
        if positions > self._room:
            room = max(256, 2 * positions)
            self.student.positions(sinusoids(room, self._width))
            self._room = room  # only now: there may be no memory for so many

    def choose(self, columns: np.ndarray) -> None:
        """Choose the pieces (n,) that may be output, in ascending order, EOS and UNK first."""
        self.columns = columns.astype(np.int32)
        self.student.choose(self.columns)

    def greedy(
        self, sources: Sources, limits: Sequence[int], allow_unknown: bool
    ) -> list[list[int]]:
        """Translate greedily; return each translation's pieces without its end, which counts in its limit."""
        pieces = [piece for source in sources for piece in source]
        return self.student.translate(pieces, list(map(len, sources)), list(limits), allow_unknown)


@cache
def sinusoids(count: int, width: int) -> np.ndarray:
    """Return positional encodings (count, width): first half sines, second half cosines, of float32 angles."""
    half = width // 2
    powers = np.arange(half, dtype=np.float32) * np.float32(-math.log(10000.0) / max(1, half - 1))
    rates = np.exp(powers.astype(np.float64)).astype(np.float32)
    angles = (np.arange(count, dtype=np.float32)[:, None] * rates).astype(np.float64)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def check_instruction_set(name: str) -> None:
    """Raise InputError unless a name is an instruction set that this machine has."""
    if name not in NEEDS:
        remedy = nearest(name, NEEDS) or f"; there are {', '.join(NEEDS)}"
        raise InputError(f"no instruction set '{name}'{remedy}")
    if name not in (found := available()):
        has = f"it has {', '.join(found)}"
        raise InputError(f"instruction set '{name}': this machine lacks it; {has}")


def best_instruction_set(weights: Weights) -> str:
    """Return the fastest instruction set here.  Raises InputError if the engine cannot hold the student."""
    if not fits_engine(weights):
        raise InputError(
            "the engine cannot hold this model (its width, or weights left in float32); `weebill translate` can, "
            "by PyTorch"
        )
    return available()[0]
