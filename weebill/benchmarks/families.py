"""Families of generators: steps that work, and the speed of int8 against float32, in processor time of one core.

Each family has a model of one shape with random weights, which writes the same number of tokens for the same prompts.
float32 runs in Hugging Face's `generate`, with the faster products here, PyTorch's or oneDNN's; int8 runs in our
engine and in CTranslate2.
"""

import copy
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from weebill.benchmarks import Option, Row
from weebill.benchmarks.family_shapes import (
    FAMILIES,
    HEADS,
    LAYERS,
    NEURONS,
    PIECES,
    SHAPES,
    WIDTH,
)
from weebill.benchmarks.generation import PRODUCTS, UNIT
from weebill.benchmarks.generation_opponents import (
    CTRANSLATE2,
    CTranslate2Engine,
    convert_to_ctranslate2,
)
from weebill.errors import InputError
from weebill.evaluation.timing.processes import Worker
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.distillation import (
    chosen_layers,
    distillation,
    distillation_loss,
    student_of,
)
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.quantizable import weights_on_grid
from weebill.generation.training import likelihood, logits_of
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.kernels.cpu_matmul import OneDnnLinears
from weebill.kernels.extension import PORTABLE
from weebill.pruning.history import History
from weebill.pruning.movement_gates import MovementScoring, cut_silent
from weebill.report.table import Column, Table, fixed
from weebill.report.table import Row as TableRow

OPPONENTS = ("transformers", "ctranslate2")
FLOAT32, INT8 = "float32", "int8"
OTHERS = (FLOAT32, CTRANSLATE2)
SMALLEST = {"families": ("llama",)}
PROMPTS, GIVEN, NEW = 4, 32, 32  # prompts at once, tokens of each, tokens written for each
CLOSE = 1e-3  # largest difference of logits, cut against masked
TIE = 0.1  # of the logits' standard deviation; another rounding of one number can move them by this


def run(
    rounds: int,
    families: Annotated[Sequence[str], Option("families to measure", choices=FAMILIES)] = FAMILIES,
) -> Iterator[Row | Table]:
    """Yield tokens per second of each family's int8 against the others, then the table of all steps and speeds."""
    measured = {}
    for name in families:
        measured[name] = speeds(name, rounds)
        yield from measured[name].values()
    yield table(measured)


def speeds(name: str, rounds: int) -> dict[str, Row]:
    """Return opponent → row of our int8 against it; CTranslate2 only if it can convert the model."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        with Worker() as worker:  # its end frees its memory
            worker.call(write_folders, name, folder)
        ways = [INT8, *PRODUCTS] + [CTRANSLATE2] * (folder / CTRANSLATE2).is_dir()
        workers = {way: stack.enter_context(Worker()) for way in ways}
        for way, worker in workers.items():
            worker.call(Engine, folder, way)
        measures = {way: partial(worker.call, "generate") for way, worker in workers.items()}
        seconds = in_turn(measures, rounds, uncounted=1)
    found = {way: [PROMPTS * NEW / one for one in seconds[way]] for way in ways}
    ours = found.pop(INT8)
    others = {FLOAT32: max((found.pop(products) for products in PRODUCTS), key=sum), **found}
    return {
        other: Row.of_rounds(f"{name}: int8 against {other}", ours, figures, UNIT)
        for other, figures in others.items()
    }


def make(name: str) -> PreTrainedModel:
    """Make a family's model with random weights."""
    classes, suffix, shape = SHAPES[name]
    config = getattr(transformers, f"{classes}Config")(vocab_size=PIECES, **shape)
    torch.manual_seed(1)
    return getattr(transformers, f"{classes}{suffix}")(config).eval()


def write_folders(name: str, folder: Path) -> None:
    """Write a family's model as folders `float32` and `int8`, and for CTranslate2 if it can convert the model."""
    model = make(name)
    save_model(folder / FLOAT32, model)
    save_int8(model, folder / INT8)
    with suppress(Exception):  # a converter may raise any error for an unknown model
        convert_to_ctranslate2(model, folder)


class Engine:
    """Model ready to continue random prompts greedily."""

    def __init__(self, folder: Path, way: str):
        """Load a model.

        way: one of `PRODUCTS` for float32, INT8 (in the compiled decoder if possible), or CTRANSLATE2.
        """
        self.onednn = way == PRODUCTS[1]
        if way == CTRANSLATE2:
            self.other = CTranslate2Engine(folder)
            return
        self.other = None
        self.model = load_int8(folder / INT8) if way == INT8 else load_model(folder / FLOAT32)
        self.write = fastest_way(self.model) if way == INT8 else self.model.generate

    def generate(self) -> float:
        """Return seconds of processor time."""
        return timed(self._generate, None, clock=time.process_time)

    def _generate(self, _: None) -> None:
        if self.other is not None:
            prompts = _prompts()
            self.other.write(prompts, torch.ones_like(prompts), NEW)
            return
        with OneDnnLinears() if self.onednn else nullcontext():
            texts(self.write)


def fastest_way(model: PreTrainedModel) -> Callable[..., Tensor]:
    """Return the `generate` of the compiled decoder for an int8 model, or else the library's."""
    with suppress(InputError):
        return CompiledGenerator(model).generate
    return model.generate


@torch.inference_mode()
def texts(write: Callable[..., Tensor]) -> Tensor:
    """Return the greedy texts (prompts, tokens) that a `generate` writes for random prompts."""
    prompts = _prompts()
    lengths = {"min_new_tokens": NEW, "max_new_tokens": NEW}
    mask = torch.ones_like(prompts)
    return write(prompts, attention_mask=mask, do_sample=False, num_beams=1, **lengths)


def _prompts() -> Tensor:
    """Return random tokens (prompts, length)."""
    draw = torch.Generator().manual_seed(1)
    return torch.randint(10, PIECES, (PROMPTS, GIVEN), generator=draw)


def _batch(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a batch of `generation.encoding` of random tokens."""
    tokens = _prompts()
    batch = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}
    if model.config.is_encoder_decoder:
        batch["decoder_input_ids"] = tokens.roll(1, 1)
    return batch


def _distil(model: PreTrainedModel) -> None:
    layers = chosen_layers(model, LAYERS // 2)
    student = student_of(model, layers).train()
    _learn(student, distillation(copy.deepcopy(model), layers, distillation_loss()))


def _prune(model: PreTrainedModel) -> None:
    view, scoring = prunable(model), MovementScoring(blocks="*", prune_updates=1)
    gates = scoring.companion(view)
    with gates.attached():
        gates.before_update(1)
        _learn(model, likelihood)
        masked = _logits(model)
    gates.finish()
    cut_silent(view, scoring, History(view, {}))
    if (_logits(model) - masked).abs().max() > CLOSE:
        raise InputError("the cut model computes otherwise than the masked one")


def _train_on_grid(model: PreTrainedModel) -> None:
    with weights_on_grid(model):
        _learn(model, likelihood)


def _int8(model: PreTrainedModel) -> str:
    """Return the share of equal tokens between our fastest way and PyTorch's products of the same integers.

    Raises InputError if the first difference of a text is not at a tie of PyTorch's two best tokens.
    """
    with tempfile.TemporaryDirectory() as folder:
        save_int8(model, Path(folder) / INT8)
        compiled, portable = (load_int8(Path(folder) / INT8, isa) for isa in (None, PORTABLE))
    ours, others = texts(fastest_way(compiled)), texts(portable.generate)
    for row, (one, other) in enumerate(zip(ours, others, strict=True)):
        differing = (one != other).nonzero().flatten().tolist()
        if differing and not _is_tie(portable, row, other[: differing[0]]):
            raise InputError(f"text {row + 1} differs at token {differing[0] + 1}, which is no tie")
    return f"{(ours == others)[:, -NEW:].float().mean().item():.1%}"


@torch.inference_mode()
def _is_tie(model: PreTrainedModel, row: int, before: Tensor) -> bool:
    """Return True if the two best logits after a text (tokens,) nearly agree; row: number of its prompt."""
    given = {"input_ids": before[None]}
    if model.config.is_encoder_decoder:
        given = {"input_ids": _prompts()[row, None], "decoder_input_ids": before[None]}
    logits = model(**given).logits[0, -1]
    best = logits.topk(2).values
    return bool(best[0] - best[1] < TIE * logits.std())


def _learn(model: PreTrainedModel, objective: Callable[..., Tensor]) -> None:
    loss = objective(model, _batch(model))
    loss.backward()
    if not loss.isfinite():
        raise InputError("the loss is not finite")


@torch.no_grad()
def _logits(model: PreTrainedModel) -> Tensor:
    return logits_of(model, _batch(model), use_cache=False).logits


STEPS: Mapping[str, tuple[str, Callable[[PreTrainedModel], str | None]]] = {
    "distil": ("Distillation", _distil),
    "prune": ("Movement pruning", _prune),
    "qat": ("Training on the grid", _train_on_grid),
    "int8": ("int8: equal tokens", _int8),
}


def outcomes(name: str) -> dict[str, str]:
    """Return for each step "yes", a share, or the message that refuses the step."""
    found = {}
    for key, (_, step) in STEPS.items():
        try:
            found[key] = step(make(name)) or "yes"
        except InputError as error:
            found[key] = f"refused: {str(error).partition(', expected')[0]}"
    return found


def table(measured: Mapping[str, Mapping[str, Row]]) -> Table:
    """Return the steps of the families measured by `speeds`, and of the models that are refused."""
    rows = []
    for name in SHAPES:
        if name in FAMILIES and name not in measured:
            continue
        found = measured.get(name, {})
        ours = fixed(found[FLOAT32].ours, 0) if found else ""
        ratios = [fixed(found[one].ratio, 2) if one in found else "" for one in OTHERS]
        rows.append(TableRow.of((name, *outcomes(name).values(), ours, *ratios)))
    columns = (
        *Column.texts(family="Family", **{key: title for key, (title, _) in STEPS.items()}),
        Column("tokens", "int8, tokens/s"),
        *Column.grouped("Ratio to", **dict(zip(("float32", "ctranslate2"), OTHERS, strict=True))),
    )
    return Table(
        "families",
        "Families of generators",
        f"Models of {LAYERS} layers, width {WIDTH}, {HEADS} heads and {NEURONS:,} neurons, with random weights.",
        columns,
        rows,
        (
            "Distillation, pruning and training on the grid: one update each; the cut model equals the masked one.",
            f"Equal tokens: greedy texts of {NEW} tokens by the compiled decoder and by PyTorch's products of the "
            "same integers. All texts that differ do so first where the two best logits are a tie: less than "
            f"{TIE} of the logits' standard deviation apart. Models with random weights have many of these.",
            f"Speeds: {PROMPTS} prompts of {GIVEN} tokens at once, {NEW} new tokens, processor time of one core. "
            "CTranslate2: only where its converter takes the model.",
        ),
    )
