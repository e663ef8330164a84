"""Families of generators: which steps work, and the speed of int8 against float32, in processor time of one core.

    weebill benchmark families                              # the speeds
    python -m weebill.benchmarks.families docs/results/families.md   # writes the whole table as a page

Each family has a model of one shape with random weights, which writes the same number of tokens for the same prompts:
in float32 by Hugging Face's `generate`, with PyTorch's products or oneDNN's, whichever are faster here, and in int8.
"""

import argparse
import copy
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

from weebill.benchmarks import Option, Row
from weebill.errors import InputError
from weebill.evaluation.measurement import hardware, software_versions, versions_line
from weebill.evaluation.timing.processes import Worker
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.files import write_text
from weebill.generation.distillation import (
    chosen_layers,
    distillation,
    distillation_loss,
    student_of,
)
from weebill.generation.int8 import load_int8, save_int8, weights_on_grid
from weebill.generation.training import likelihood, logits_of
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.kernels.cpu_matmul import OneDnnLinears
from weebill.kernels.extension import PORTABLE
from weebill.pruning.history import History
from weebill.pruning.movement_gates import MovementScoring, cut_silent
from weebill.report.rendering import to_markdown
from weebill.report.table import Column, Table, fixed
from weebill.report.table import Row as TableRow

OPPONENTS = ("transformers",)
SMALLEST = {"families": ("llama",)}
PRODUCTS = ("PyTorch's", "oneDNN's")  # of float32
LAYERS, WIDTH, HEADS, NEURONS, PIECES = 4, 512, 8, 2048, 8000
PROMPTS, GIVEN, NEW = 4, 32, 32  # prompts at once, tokens of each, tokens written for each
CLOSE = 1e-3  # of logits: cut against masked

_ENDS = {"pad_token_id": 1, "eos_token_id": 2}
_BART = {
    **_ENDS,
    "d_model": WIDTH,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
    **{
        f"{side}_{part}": value
        for side in ("encoder", "decoder")
        for part, value in {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": NEURONS}.items()
    },
}
_T5 = {
    **_ENDS,
    "d_model": WIDTH,
    "d_kv": WIDTH // HEADS,
    "d_ff": NEURONS,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "decoder_start_token_id": 1,
}
_GPT2 = {**_ENDS, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "bos_token_id": 0}
_SIZES = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
_NEOX = {**_ENDS, **_SIZES}
_OPT = {**_NEOX, "word_embed_proj_dim": WIDTH, "ffn_dim": NEURONS}
_GROUPED = {"head_dim": WIDTH // HEADS, "num_key_value_heads": HEADS // 2}
_LLAMA = {**_NEOX, **_GROUPED, "intermediate_size": NEURONS}
_SEQ2SEQ, _CAUSAL = "ForConditionalGeneration", "ForCausalLM"
# Name of the classes in the library, their suffix, and the shape; the last two are of no family.
SHAPES: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "bart": ("Bart", _SEQ2SEQ, _BART),
    "mbart": ("MBart", _SEQ2SEQ, _BART),
    "m2m-100": ("M2M100", _SEQ2SEQ, _BART),
    "pegasus": ("Pegasus", _SEQ2SEQ, _BART),
    "marian": ("Marian", "MTModel", _BART),
    "t5": ("T5", _SEQ2SEQ, _T5),
    "mt5": ("MT5", _SEQ2SEQ, {**_T5, "feed_forward_proj": "gated-gelu"}),
    "gpt2": ("GPT2", "LMHeadModel", _GPT2),
    "opt": ("OPT", _CAUSAL, _OPT),
    "llama": ("Llama", _CAUSAL, _LLAMA),
    "mistral": ("Mistral", _CAUSAL, _LLAMA),
    "qwen2": ("Qwen2", _CAUSAL, _LLAMA),
    "qwen3": ("Qwen3", _CAUSAL, _LLAMA),
    "blenderbot": ("Blenderbot", _SEQ2SEQ, _BART),
    "gpt-neox": ("GPTNeoX", _CAUSAL, _NEOX),
}
FAMILIES = tuple(SHAPES)[:-2]


def run(
    rounds: int,
    families: Annotated[Sequence[str], Option("families to measure", choices=FAMILIES)] = FAMILIES,
) -> Iterator[Row]:
    """Yield tokens per second of each family's int8 against its float32."""
    for name in families:
        with tempfile.TemporaryDirectory() as folder:
            yield _speed(name, Path(folder), rounds)


def _speed(name: str, folder: Path, rounds: int) -> Row:
    with Worker() as worker:  # its end frees its memory
        worker.call(write_folders, name, folder)
    ways = [("float32", products) for products in PRODUCTS] + [("int8", PRODUCTS[0])]
    with ExitStack() as stack:
        workers = {way: stack.enter_context(Worker()) for way in ways}
        for way, worker in workers.items():
            worker.call(Engine, folder / way[0], *way)
        measures = {way: partial(worker.call, "generate") for way, worker in workers.items()}
        seconds = in_turn(measures, rounds, uncounted=1)
    *floats, ours = ([PROMPTS * NEW / taken for taken in seconds[way]] for way in ways)
    other = max(floats, key=sum)
    return Row.of_rounds(f"{name}: int8 against float32", ours, other, "tokens/s of processor time")


def make(name: str) -> PreTrainedModel:
    """Make a family's model with random weights."""
    classes, suffix, shape = SHAPES[name]
    config = getattr(transformers, f"{classes}Config")(vocab_size=PIECES, **shape)
    torch.manual_seed(1)
    return getattr(transformers, f"{classes}{suffix}")(config).eval()


def write_folders(name: str, folder: Path) -> None:
    """Write a family's model as folders `float32` and `int8`."""
    model = make(name)
    save_model(folder / "float32", model)
    save_int8(model, folder / "int8")


class Engine:
    """Model ready to continue random prompts greedily."""

    def __init__(self, folder: Path, precision: str, products: str):
        self.model = load_model(folder) if precision == "float32" else load_int8(folder)
        self.onednn = products == PRODUCTS[1]

    def generate(self) -> float:
        """Return seconds of processor time."""
        return timed(self._generate, None, clock=time.process_time)

    def _generate(self, _: None) -> None:
        with OneDnnLinears() if self.onednn else nullcontext():
            texts(self.model)


@torch.inference_mode()
def texts(model: PreTrainedModel) -> Tensor:
    """Return the greedy texts (prompts, tokens) of random prompts."""
    prompts = _batch(model)["input_ids"]
    lengths = {"min_new_tokens": NEW, "max_new_tokens": NEW}
    mask = torch.ones_like(prompts)
    return model.generate(prompts, attention_mask=mask, do_sample=False, num_beams=1, **lengths)


def _batch(model: PreTrainedModel) -> dict[str, Tensor]:
    """Return a batch of `generation.encoding` of random tokens."""
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(10, PIECES, (PROMPTS, GIVEN), generator=draw)
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
    """Return the share of equal tokens of the compiled kernels and of PyTorch's products of integers."""
    with tempfile.TemporaryDirectory() as folder:
        save_int8(model, Path(folder) / "int8")
        ours, other = (texts(load_int8(Path(folder) / "int8", isa)) for isa in (None, PORTABLE))
    return f"{(ours == other)[:, -NEW:].float().mean().item():.1%}"


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
    """Return "yes", a share, or the line that refuses it, of each step."""
    found = {}
    for key, (_, step) in STEPS.items():
        try:
            found[key] = step(make(name)) or "yes"
        except InputError as error:
            found[key] = f"refused: {str(error).partition(', expected')[0]}"
    return found


def table(speeds: Mapping[str, Row]) -> Table:
    """Return the steps of every family, and its speeds if they were measured."""
    rows = []
    for name in SHAPES:
        speed = speeds.get(name)
        figures = (
            ("", "", "")
            if speed is None
            else (fixed(speed.other, 0), fixed(speed.ours, 0), fixed(speed.ratio, 2))
        )
        rows.append(TableRow.of((name, *outcomes(name).values(), *figures)))
    columns = (
        *Column.texts(family="Family", **{key: title for key, (title, _) in STEPS.items()}),
        Column("float32", "float32, tokens/s"),
        Column("int8_speed", "int8, tokens/s"),
        Column("ratio", "Ratio"),
    )
    return Table(
        "families",
        "Families of generators",
        f"Models of {LAYERS} layers, width {WIDTH}, {HEADS} heads and {NEURONS:,} neurons, with random weights.",
        columns,
        rows,
        (
            "Distillation, pruning and training on the grid: one update each; the cut model equals the masked one.",
            f"Equal tokens: greedy texts of {NEW} tokens by the compiled kernels and by PyTorch's products of the "
            "same integers.",
            f"Speeds: {PROMPTS} prompts of {GIVEN} tokens at once, {NEW} new tokens, processor time of one core.",
        ),
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m weebill.benchmarks.families", description=__doc__
    )
    parser.add_argument("page", type=Path, nargs="?", default=Path("docs/results/families.md"))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found = table(dict(zip(FAMILIES, run(given.rounds), strict=True)))
    machine = f"{hardware()}; {versions_line(software_versions(OPPONENTS))}"
    text = f"# {found.title}\n\n`python -m weebill.benchmarks.families` wrote this page.\n{machine}\n\n"
    write_text(given.page, text + to_markdown(found))


if __name__ == "__main__":
    main()
