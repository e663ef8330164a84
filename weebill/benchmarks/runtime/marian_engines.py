"""Engines of Marian's family and our runtime with the interface of `engines`, from lines of text to lines of text.

All run the same random network, with SSRUs and the same shortlist.  bergamot and fxtranslate read the int8 files for
Firefox; pymarian reads float32 and packs it itself.  Each engine runs in its own environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from weebill.benchmarks.opponent import Opponent
from weebill.benchmarks.runtime.engines import (
    FACTOR,
    LIMITS,
    PIECES_PER_SENTENCE,
    Case,
    Sources,
    random_network,
    random_shortlist,
    sentences,
)
from weebill.benchmarks.runtime.invented_words import invented_vocabulary
from weebill.benchmarks.runtime.marian_workers import BODIES, COMMON
from weebill.evaluation.this_process import environment
from weebill.evaluation.timing.timer import timed
from weebill.kernels.extension import available
from weebill.runtime.exports.marian import firefox
from weebill.runtime.exports.marian.conversion import export
from weebill.runtime.translator import Runtime
from weebill_runtime.architecture import Architecture
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import EOS

PYTHONS = MappingProxyType({name: Path(f".venvs/{name}/bin/python") for name in BODIES})
LANGUAGES = "xx", "yy"  # languages of invented words
LONGEST = 140  # pieces, more than any sentence has here
FEWEST = 8  # least sentences in a batch: bergamot needs space for the longest sentence
NARROW = "avxvnni", "avx2"  # instruction sets without AVX-512
BLOCK = 128  # sentences of equal length


@dataclass(frozen=True)
class Way:
    """Way in which an engine and ours are called.

    precision: precision of our network.  alone: one sentence per call; otherwise all sentences in one call, and the
    engine makes batches.
    factor, constant: `length_factor` and `length_constant` of `SearchOptions`, whose limit all outputs reach.
    """

    precision: str
    alone: bool = False
    factor: float = FACTOR
    constant: int = 2  # Marian counts the source's end, but not the output's

    def calls(self, lines: list[str]) -> list[list[str]]:
        """Return the lines of each call."""
        return [[line] for line in lines] if self.alone else [lines]


@dataclass(frozen=True)
class Kind:
    """Engine with its type of numbers.  alike: type with which its arithmetic is most similar to ours."""

    engine: str
    numbers: str
    way: Way
    alike: str

    def __str__(self) -> str:
        return f"{self.engine}, {self.numbers}{', one sentence a call' * self.way.alone}"


KINDS = (
    Kind("bergamot", "int8", Way("int8"), "float32"),
    Kind("pymarian", "packed8", Way("int8"), "float32"),
    Kind("pymarian", "float32", Way("float32"), "float32"),
    Kind("bergamot", "int8", Way("int8", alone=True), "float32"),
    # fxtranslate has neither batches nor options: outputs have twice the pieces of the source (with its end) plus 4.
    Kind("fxtranslate", "int8", Way("int8", alone=True, factor=2.0, constant=7), "int8"),
)


def texts(vocabulary: int, count: int) -> Sources:
    """Draw sentences like `sentences`, but in blocks of equal length, so that all engines' batches are alike."""
    order = sorted(sentences(vocabulary, count), key=len)
    blocks = [order[first : first + BLOCK] for first in range(0, count, BLOCK)]
    return [
        [*islice(cycle(source[:-1]), len(block[len(block) // 2]) - 1), EOS]
        for block in blocks
        for source in block
    ]


def short_texts(vocabulary: int, count: int) -> Sources:
    """Draw sentences of one to four pieces, for which rounding rarely changes the output."""
    drawn = sentences(vocabulary, count, seed=2)
    return [[*source[: min(len(source) - 1, 1 + i % 4)], EOS] for i, source in enumerate(drawn)]


class Files:
    """Random network and its shortlist in the files of all engines, with a vocabulary of invented words.

    Raises InputError if Marian's formats cannot hold this shape.
    """

    def __init__(self, shape: Architecture, folder: Path, isa: str):
        wide = "vnni" in available() and isa not in NARROW
        self._packed = "packed8avx512" if wide else "packed8avx2"
        self.vocabulary = invented_vocabulary(shape.vocabulary, folder / "words.spm")
        self.float32, self.int8 = folder / "float32", folder / "int8"
        shortlist = random_shortlist(shape.vocabulary)
        network = random_network(Case(shape, "float32"))
        export(network, self.vocabulary, self.float32, shortlist)
        network = random_network(Case(shape))
        firefox.export(network, self.vocabulary, self.int8, shortlist, languages=LANGUAGES)

    def options(self, kind: Kind, size: int, shortlist: bool) -> dict[str, Any]:
        """Return options of Marian's decoder for batches of about `size` sentences."""
        found: dict[str, Any] = {
            "models": [str(self.float32 / "model.npz")],
            "vocabs": [str(self.vocabulary.path)] * 2,
            "beam-size": 1,
            "skip-cost": True,
            "max-length-factor": FACTOR,
            "workspace": 512,
            "cpu-threads": 1,
            "quiet": True,
            "quiet-translation": True,
        }
        if shortlist:
            found["shortlist"] = [str(self.float32 / "lex.bin"), False]
        if kind.numbers == "packed8":
            found["gemm-type"] = self._packed
        if kind.numbers == "int8":
            found["models"] = [str(next(self.int8.glob("model.*.bin")))]
        if kind.engine == "bergamot":
            found["gemm-precision"] = {"int8": "int8shiftAlphaAll"}.get(kind.numbers, kind.numbers)
            found["mini-batch-words"] = round(max(size, FEWEST) * PIECES_PER_SENTENCE)
            found |= {"max-length-break": LONGEST, "ssplit-mode": "sentence"}
        else:
            found |= {"mini-batch": size, "maxi-batch": 1000, "maxi-batch-sort": "src"}
            found["max-length"] = LONGEST
        return found


class OnText:
    """Our runtime, reading and writing text by SentencePiece like the others."""

    def __init__(self, way: Way, shape: Architecture, isa: str, files: Files, listed: bool = True):
        shortlist = random_shortlist(shape.vocabulary) if listed else None
        network = random_network(Case(shape, way.precision))
        self._runtime = Runtime([network], isa, shortlist)
        self._way, self._vocabulary = way, files.vocabulary
        self.prepare([], 1)

    def prepare(self, text: Sources, size: int) -> None:
        self._calls = self._way.calls(self._vocabulary.decode(text))
        length = {"length_factor": self._way.factor, "length_constant": self._way.constant}
        self._options = SearchOptions(batch_size=size, batch_tokens=10**6, **length)

    def translate(self) -> list[float]:
        return [timed(self.lines, lines) for lines in self._calls]

    def lines(self, lines: list[str]) -> list[str]:
        """Return the translation of each line."""
        found = self._runtime.translate(self._vocabulary.encode(lines), self._options)
        return self._vocabulary.decode(found)


class MarianEngine(Opponent):
    """Engine in its own process, on one core.

    python: Python of its environment.  folder: place for its answers.
    Raises InputError, also in any method, if this Python cannot run the engine, or the engine refuses the model.
    """

    def __init__(self, kind: Kind, python: Path, isa: str, files: Files, folder: Path):
        self.kind, self._files, self._size = kind, files, 1
        body, names = COMMON + BODIES[kind.engine], {"environment": kind.engine}
        with environment(_limits(isa)):
            super().__init__(python, body, folder=folder, option=f"--{kind.engine}", **names)
        self._version = self.work(["version"])

    def prepare(self, text: Sources, size: int) -> None:
        self._size = size
        self.work(["load", self._files.options(self.kind, size, shortlist=True)])
        self.work(["keep", self.kind.way.calls(self._files.vocabulary.decode(text))])

    def translate(self) -> list[float]:
        return self.work(["time"])

    def lines(self, lines: list[str]) -> list[str]:
        """Return the translation of each line with the type `alike`, without a shortlist."""
        alike = replace(self.kind, numbers=self.kind.alike)
        self.work(["load", self._files.options(alike, 1, shortlist=False)])
        return [self.work(["translate", [line]])[0] for line in lines]

    def __str__(self) -> str:
        how = "one sentence a call" if self.kind.way.alone else f"batch {self._size}"
        return f"{self.kind.engine} {self._version} ({self.kind.numbers}, {how})"


def _limits(isa: str) -> Mapping[str, str]:
    """Return variables that keep an engine's libraries from faster instruction sets than ours."""
    return {**LIMITS[isa], "INTGEMM_CPUID": "AVX2"} if isa in NARROW else {}
