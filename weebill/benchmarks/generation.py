"""Greedy generation by int8 and pruned models against float32 and unpruned ones, in processor time of one core.

Models have the published shapes and random weights; all write the same number of tokens for the same articles.  The
pipeline's result (half of the layers, fewer heads and neurons, int8) is compared with its initial fine-tuned model:
float32 in Hugging Face's `generate`, with the faster products here, PyTorch's or oneDNN's.
int8 and int4 (weights of 4 bits) run in the compiled decoder.  int8 is also compared with the same layers in
`generate`, with CTranslate2, and on request with the int8 of ONNX Runtime and OpenVINO, which run in their own
environments (`make opponents`).
Each model has its own process, whose peak memory is also compared, in total and beyond Python and its libraries.  The
peak of float32 is counted after loading, that of int8 from the start.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedConfig,
)

from weebill.benchmarks import Option, Row
from weebill.benchmarks.generation_libraries import NAMES as LIBRARIES
from weebill.benchmarks.generation_libraries import PYTHONS, LibraryEngine
from weebill.benchmarks.generation_opponents import (
    CTRANSLATE2,
    CTranslate2Engine,
    convert_to_ctranslate2,
)
from weebill.evaluation.timing.processes import Worker, memory
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.experiment.shares import part_of
from weebill.files import MIB
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.int8 import load_int8, save_int8
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.kernels.cpu_matmul import OneDnnLinears
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers
from weebill.report.papers import load

PRODUCTS = ("PyTorch's", "oneDNN's")  # float32 products; the processor decides which are faster
HEADS, NEURONS = 0.3, 0.6  # shares of each block that the paper's pruning removes
BATCH, LONGEST, NEW = 8, 512, 60  # articles at once, most tokens of an article, new tokens for each
SMALLEST = {"models": ("gpt2",), "longest": 128, "new": 20}
OPPONENTS = ("transformers", "ctranslate2")  # packages whose versions are reported with the results
TRIAL = 4  # tokens of the trial that chooses float32's products
UNIT = "tokens/s of processor time"
BASE = {f"{stack}_{name}": size for stack in ("encoder", "decoder")
        for name, size in (("layers", 6), ("attention_heads", 12), ("ffn_dim", 3072))}  # fmt: skip
UNFORCED = {"forced_eos_token_id": None}  # CTranslate2 does not force a text to end
# Random models with the published shapes, which are the defaults of the library's configurations.
MODELS = {
    "bart-large": lambda: BartForConditionalGeneration(BartConfig(**UNFORCED)),
    "bart-base": lambda: BartForConditionalGeneration(BartConfig(d_model=768, **BASE, **UNFORCED)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config()),
}


class Variant(NamedTuple):
    """Model to measure."""

    half: bool = False  # without half of each stack's layers
    pruned: bool = False  # without the paper's shares of heads and neurons
    precision: str = "float32"
    engine: str = ""  # if it is not the usual one of the precision

    @property
    def folder(self) -> str:
        return f"{'half' if self.half else 'whole'}-{'pruned' if self.pruned else 'unpruned'}"


FLOAT32 = Variant()
INT8 = Variant(precision="int8")
INT4 = Variant(precision="int4")
INT8_LIBRARY = Variant(precision="int8", engine="generate")
INT8_CTRANSLATE2 = Variant(precision="int8", engine=CTRANSLATE2)
INT8_OTHERS = {INT8_LIBRARY: "int8 in `generate`", INT8_CTRANSLATE2: "CTranslate2's int8"}
PRUNED = Variant(pruned=True)
PRUNED_INT8 = Variant(pruned=True, precision="int8")
PIPELINE = Variant(half=True, pruned=True, precision="int8")
# Each claim: our variant, the other one, a description, and the paper's tables and variants with both times.
CLAIMS = (
    (INT8, FLOAT32, "int8 against float32", ("5", "quantized", "original")),
    (INT4, FLOAT32, "int4 against float32", None),
    (INT4, INT8, "int4 against int8", None),
    (INT4, INT8_CTRANSLATE2, "int4 against CTranslate2's int8", None),
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
    libraries: Annotated[
        Sequence[str], Option("further engines of int8 to measure", choices=LIBRARIES)
    ] = (),
) -> Iterator[Row]:
    """Yield tokens per second and MiB of each model and batch size.  Raises InputError if a library cannot run."""
    others = INT8_OTHERS | {
        Variant(precision="int8", engine=name): f"{LIBRARIES[name]}'s int8" for name in libraries
    }
    for name in models:
        with tempfile.TemporaryDirectory() as folder:
            claimed = (one for ours, other, *_ in CLAIMS for one in (ours, other))
            variants = dict.fromkeys((*claimed, *others))
            for one in {one.folder: one for one in variants}.values():
                with Worker() as worker:  # its end frees its memory
                    worker.call(make_folder, name, one.half, one.pruned, Path(folder) / one.folder)
            for articles in batch:
                size = articles, longest, new
                yield from _measure(name, list(variants), others, Path(folder), size, rounds)


def _measure(
    name: str,
    variants: Sequence[Variant],
    others: Mapping[Variant, str],
    folder: Path,
    size: tuple[int, int, int],
    rounds: int,
) -> list[Row]:
    tokens = size[0] * size[2]
    products = _fastest_products(folder, size)
    with ExitStack() as stack:
        workers = {one: stack.enter_context(Worker()) for one in variants}
        for one, worker in workers.items():
            worker.call(Engine, folder / one.folder, one, products, size)
        measures = {one: partial(worker.call, "generate") for one, worker in workers.items()}
        seconds = in_turn(measures, rounds, uncounted=1)
        speed = {one: [tokens / taken for taken in times] for one, times in seconds.items()}
        peaks = {one: worker.call("peaks") for one, worker in workers.items()}
        texts = {one: workers[one].call("written", size[2]) for one in (INT8, *others)}
    key = f"{name}, batches of {size[0]}"
    start = f"{key}, float32 by {products} products"

    def row(words: str, ours: list[float], other: list[float], *more) -> Row:
        return Row.of_rounds(f"{start}: {words}", ours, other, *more, key=f"{key}: {words}")

    rows = [
        row(words, speed[ours], speed[other], UNIT, printed(name, where))
        for ours, other, words, where in CLAIMS
    ]
    rows += [
        row(f"int8 against {words}", speed[INT8], speed[other], UNIT)
        for other, words in others.items()
    ]
    rows += [
        row(f"tokens like those of {words}", [_alike(texts[INT8], texts[other])], [1.0], "of all")
        for other, words in others.items()
    ]
    rows += [
        row(
            f"int4 against {one.precision}, files",
            [_size(folder, INT4)],
            [_size(folder, one)],
            "MiB",
        )
        for one in (FLOAT32, INT8)
    ]
    return rows + [
        row(f"{words}, {kind}", [peaks[ours][index]], [peaks[other][index]], "MiB")
        for ours, other, words, _ in CLAIMS
        if other == FLOAT32
        for index, kind in enumerate(("peak memory", "peak memory beyond the libraries'"))
    ]


def _alike(ours: list[list[int]], other: list[list[int]]) -> float:
    pairs = [pair for texts in zip(ours, other, strict=True) for pair in zip(*texts, strict=True)]
    return sum(one == two for one, two in pairs) / len(pairs)


def _size(folder: Path, variant: Variant) -> float:
    """Return the MiB of a variant's files."""
    files = (folder / variant.folder / variant.precision).iterdir()
    return sum(file.stat().st_size for file in files) / MIB


def _fastest_products(folder: Path, size: tuple[int, int, int]) -> str:
    def seconds(products: str) -> float:
        with Worker() as worker:
            worker.call(Engine, folder / FLOAT32.folder, FLOAT32, products, size)
            worker.call("generate", 1)
            return worker.call("generate", TRIAL)

    return min(PRODUCTS, key=seconds)


def printed(name: str, where: tuple[str, str, str] | None) -> float | None:
    """Return the paper's speed of the first variant relative to the second; None if the paper does not print it."""
    if where is None:
        return None
    tables, ours, other = where
    model = "bart-large-cnn" if name == "bart-large" else name
    rows = load("textgen_tables")
    rows = rows[rows["table"].isin(tables.split()) & (rows["model"] == model)]
    seconds = dict(zip(rows["variant"], rows["seconds"].astype(float), strict=True))
    return seconds[other] / seconds[ours] if {ours, other} <= seconds.keys() else None


def make_folder(name: str, half: bool, pruned: bool, folder: Path) -> None:
    """Write a model with random weights for our engines, cut as in `Variant`, and whole for CTranslate2."""
    torch.manual_seed(1)
    model = MODELS[name]().eval()
    view = prunable(model)
    if half:
        for stack in view.layer_stacks():
            cut_layers(view, stack.name, stack.depth // 2)
    if pruned:
        heads = {b.name: range(part_of(HEADS, b.heads)) for b in view.attention_blocks()}
        neurons = {b.name: range(part_of(NEURONS, b.neurons)) for b in view.feed_forward_blocks()}
        cut(view, heads, neurons)
    save_model(folder / "float32", model)
    save_int8(model, folder / "int8")
    save_int8(model, folder / "int4", bits=4)
    if not half and not pruned:
        convert_to_ctranslate2(model, folder)


class Engine:
    """Model ready to generate greedily for random articles, whose lengths are from half of the longest up to it."""

    def __init__(self, folder: Path, variant: Variant, products: str, size: tuple[int, int, int]):
        """Load a variant, and draw the articles.  size: articles, tokens of the longest, new tokens."""
        self._libraries, self.products = memory(), products
        batch, longest, self._new = size
        self._clock = time.process_time
        if variant.engine == CTRANSLATE2:
            engine = CTranslate2Engine(folder)
            config, self._write = engine.config, engine.write
        elif variant.engine in LIBRARIES:
            engine = LibraryEngine(variant.engine, PYTHONS[variant.engine], folder)
            config, self._write, self._clock = engine.config, engine.write, engine.clock
        else:
            config = self._load(folder / variant.precision, variant)
        lengths = torch.linspace(longest // 2, longest, batch).round().long()
        mask = (torch.arange(longest) < lengths[:, None]).long()
        self.mask = mask if config.is_encoder_decoder else mask.flip(1)  # padding is on the left
        draw = torch.Generator().manual_seed(1)
        self.ids = torch.randint(10, config.vocab_size, mask.shape, generator=draw) * self.mask

    def _load(self, folder: Path, variant: Variant) -> PreTrainedConfig:
        if variant.precision == "float32":
            self.model = load_model(folder)
            forget_peak()
        else:
            self.model, self.products = load_int8(folder), PRODUCTS[0]
        generate = self.model.generate
        if variant.precision != "float32" and not variant.engine:
            generate = CompiledGenerator(self.model).generate

        def write(ids: Tensor, mask: Tensor, new: int) -> list[list[int]]:
            lengths = {"min_new_tokens": new, "max_new_tokens": new}
            found = generate(ids, attention_mask=mask, do_sample=False, pad_token_id=0, **lengths)
            return found[:, -new:].tolist()

        self._write = write
        return self.model.config

    def generate(self, new: int | None = None) -> float:
        """Write `new` tokens (None: the usual number) for every article; return seconds of processor time."""
        return timed(self.written, new or self._new, clock=self._clock)

    @torch.inference_mode()
    def written(self, new: int) -> list[list[int]]:
        """Return `new` tokens for every article."""
        with OneDnnLinears() if self.products == PRODUCTS[1] else nullcontext():
            return self._write(self.ids, self.mask, new)

    def peaks(self) -> tuple[float, float]:
        """Return the peak memory of this process in MiB: in total, and beyond Python and its libraries."""
        most = memory(peak=True)
        return most, most - self._libraries


def forget_peak() -> None:
    """Reset the peak memory, to leave out the memory for loading; do nothing if the system does not allow it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
