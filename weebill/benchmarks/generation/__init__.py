"""Greedy generation by int8 and pruned models against float32 and unpruned ones, in processor time of one core.

Models have the published shapes and random weights; all write the same number of tokens for the same articles.  The
pipeline's result (half of the layers, fewer heads and neurons, int8) is compared with the fine-tuned model that it
starts from: float32 in Hugging Face's `generate`, with PyTorch's products or oneDNN's, whichever are faster here.
Each model has a process of its own, whose peak memory is compared as well, in total and beyond Python and its
libraries.  The peak of float32 is counted after loading, that of int8 from the start.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from weebill.benchmarks import Row
from weebill.benchmarks.generation.engines import MODELS, PRODUCTS, Engine, make_folder
from weebill.benchmarks.options import Option
from weebill.evaluation.this_process import usable_cores
from weebill.evaluation.timing.processes import Worker
from weebill.evaluation.timing.timer import in_turn
from weebill.report.papers import load

BATCH, LONGEST, NEW = 8, 512, 60  # articles at once, their most tokens, tokens written for each
SMALLEST = {"models": ("gpt2",), "longest": 128, "new": 20}
OPPONENTS = ("transformers",)  # packages whose versions are reported with the results
TRIAL = 4  # tokens of the trial that chooses float32's products
UNIT = "tokens/s of processor time"


@dataclass(frozen=True)
class Variant:
    """Model to measure."""

    half: bool = False
    pruned: bool = False
    precision: str = "float32"

    @property
    def folder(self) -> str:
        """Name of the folder with its weights."""
        return f"{'half' if self.half else 'whole'}-{'pruned' if self.pruned else 'unpruned'}"


FLOAT32 = Variant()
INT8 = Variant(precision="int8")
PRUNED = Variant(pruned=True)
PRUNED_INT8 = Variant(pruned=True, precision="int8")
PIPELINE = Variant(half=True, pruned=True, precision="int8")
# Each claim: our variant, the other one, the words, and the paper's tables and variants with both times.
CLAIMS = (
    (INT8, FLOAT32, "int8 against float32", ("5", "quantized", "original")),
    (PRUNED, FLOAT32, "pruned against unpruned, float32", ("3 4", "pruned", "original")),
    (PRUNED_INT8, INT8, "pruned against unpruned, int8", None),
    (PIPELINE, FLOAT32, "half the layers, pruned, int8 against float32", ("6 7", "quantized", "fine-tuned")),
)  # fmt: skip


def run(
    rounds: int,
    models: Annotated[Sequence[str], Option("models to measure", choices=MODELS)] = tuple(MODELS),
    batch: Annotated[Sequence[int], Option("articles at once", "N")] = (BATCH,),
    longest: Annotated[
        int, Option("tokens of the longest article; the shortest has half", "N")
    ] = LONGEST,
    new: Annotated[int, Option("tokens written for each article", "N")] = NEW,
) -> Iterator[Row]:
    """Yield tokens per second, and MiB, of each model and batch size."""
    for name in models:
        with tempfile.TemporaryDirectory() as folder:
            variants = dict.fromkeys(one for ours, other, *_ in CLAIMS for one in (ours, other))
            for one in {one.folder: one for one in variants}.values():
                with Worker([max(usable_cores())]) as worker:  # its end frees its memory
                    worker.call(make_folder, name, one.half, one.pruned, Path(folder) / one.folder)
            for articles in batch:
                size = articles, longest, new
                yield from _measure(name, list(variants), Path(folder), size, rounds)


def _measure(
    name: str, variants: Sequence[Variant], folder: Path, size: tuple[int, int, int], rounds: int
) -> list[Row]:
    core = [max(usable_cores())]
    tokens = size[0] * size[2]
    products = _fastest_products(folder, size)
    with ExitStack() as stack:
        workers = {one: stack.enter_context(Worker(core)) for one in variants}
        for one, worker in workers.items():
            worker.call(Engine, folder / one.folder, one.precision, products, size)
        measures = {one: partial(worker.call, "generate") for one, worker in workers.items()}
        seconds = in_turn(measures, rounds, uncounted=1)
        speed = {one: [tokens / taken for taken in times] for one, times in seconds.items()}
        peaks = {one: worker.call("peaks") for one, worker in workers.items()}
    key = f"{name}, batches of {size[0]}"
    start = f"{key}, float32 by {products} products"

    def row(words: str, ours: list[float], other: list[float], *more) -> Row:
        return Row.of_rounds(f"{start}: {words}", ours, other, *more, key=f"{key}: {words}")

    rows = [
        row(words, speed[ours], speed[other], UNIT, printed(name, where))
        for ours, other, words, where in CLAIMS
    ]
    return rows + [
        row(f"{words}, {kind}", [peaks[ours][index]], [peaks[other][index]], "MiB")
        for ours, other, words, _ in CLAIMS
        if other == FLOAT32
        for index, kind in enumerate(("peak memory", "peak memory beyond the libraries'"))
    ]


def _fastest_products(folder: Path, size: tuple[int, int, int]) -> str:
    """Return those of PRODUCTS with which the float32 model is fastest."""

    def seconds(products: str) -> float:
        with Worker([max(usable_cores())]) as worker:
            worker.call(Engine, folder / FLOAT32.folder, "float32", products, size)
            worker.call("generate", 1)
            return worker.call("generate", TRIAL)

    return min(PRODUCTS, key=seconds)


def printed(name: str, where: tuple[str, str, str] | None) -> float | None:
    """Return the paper's speed of the first variant relative to the second; None if the paper does not give it."""
    if where is None:
        return None
    tables, ours, other = where
    model = "bart-large-cnn" if name == "bart-large" else name
    seconds = {
        row["variant"]: float(row["seconds"])
        for table in tables.split()
        for _, row in load("textgen_tables").iterrows()
        if row["table"] == table and row["model"] == model
    }
    return seconds[other] / seconds[ours] if {ours, other} <= seconds.keys() else None
