"""Generation time per example and per token at fixed lengths, and memory: each variant in a process of its own.

Each variant generates for one example at a time, greedily, on one core with one thread; variants take turns.  With a
GPU, variants in floating-point numbers are timed there too, in bfloat16; int8 variants run on CPUs only.
"""

import logging
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from weebill.errors import InputError, placed
from weebill.evaluation.measurement import conditions
from weebill.evaluation.timing.processes import Worker, load_measured, memory
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.files import MIB
from weebill.generation.data import read_part
from weebill.generation.encoding import Encoder
from weebill.generation.models import GPU_PRECISION, load_generator
from weebill.generation.settings import Device, SearchSettings
from weebill.hugging_face.loading import is_int8, read_config
from weebill.kernels.accelerator import check_accelerator

IMPORTED = ("torch", "weebill.generation.models")  # by every worker
CHARACTERS = 16  # of running text for each token needed; tokens are shorter


@dataclass(frozen=True)
class GenerationSpeed:
    """Per-round timings of one variant, and their medians."""

    variant: str
    examples: int
    given_tokens: float  # mean length of an example
    new_tokens: int  # exact number written for each example
    seconds: list[float]  # of all examples together, one per round
    seconds_per_example: float
    milliseconds_per_token: float
    load_seconds: float
    idle_mib: float  # of the process before loading; on a GPU 0
    peak_mib: float
    hardware: str
    versions: dict[str, str]
    device: str = "cpu"  # or "cuda"; then the memory is the GPU's
    precision: str = ""  # of the numbers on a GPU


def measure_generation(
    variants: Mapping[str, Path],
    data: Path,
    *,
    examples: int,
    given: int,
    new_tokens: int,
    rounds: int,
    accelerator: str = "cpu",
) -> list[GenerationSpeed]:
    """Time every variant, name → folder, on the first examples of the test part.  Raises InputError if one fails.

    given: largest number of tokens of an article, or tokens of running text to continue.  accelerator: `gpu`, or its
    rehearsal, also times the variants in floating-point numbers on a GPU, after all variants on a core.
    """
    found = _measured(variants, data, examples, given, new_tokens, rounds, Device())
    if accelerator != "cpu":
        check_accelerator(accelerator)
        floating = {
            name: folder
            for name, folder in variants.items()
            if not is_int8(read_config(folder, types=True))
        }
        found += _measured(floating, data, examples, given, new_tokens, rounds, Device(accelerator))
    return found


def _measured(
    variants: Mapping[str, Path],
    data: Path,
    examples: int,
    given: int,
    new_tokens: int,
    rounds: int,
    device: Device,
) -> list[GenerationSpeed]:
    """Time variants on one device."""
    texts = _texts(read_part(data, "test"), examples, given)
    with ExitStack() as stack:
        workers = {}
        for name, folder in variants.items():
            workers[name] = stack.enter_context(Worker(imported=IMPORTED))
            with placed(f"speed of {name}"):
                workers[name].call(_Loaded, folder, texts, examples, given, new_tokens, device)
                workers[name].call("seconds", 1)  # to warm up
        seconds = in_turn(
            {name: partial(worker.call, "seconds") for name, worker in workers.items()},
            rounds,
            told=lambda place, name, taken: logging.info(f"{place}: {name}: {taken:.2f} s"),
        )
        figures = {name: worker.call("figures") for name, worker in workers.items()}
    found = []
    for name, times in seconds.items():
        per_example = statistics.median(times) / figures[name]["examples"]
        found.append(
            GenerationSpeed(
                variant=name,
                new_tokens=new_tokens,
                seconds=times,
                seconds_per_example=per_example,
                milliseconds_per_token=1000 * per_example / new_tokens,
                **(conditions(["transformers"]) | figures[name]),
            )
        )
    return found


def _texts(rows: Sequence[Mapping[str, str]], examples: int, given: int) -> list[str]:
    """Return articles, or only as much running text as needed, because more would count as a model's memory."""
    if "article" in rows[0]:
        return [row["article"] for row in rows[:examples]]
    found, room = [], examples * given * CHARACTERS
    for row in rows:
        found.append(row["text"][:room])
        room -= len(found[-1])
        if not room:
            break
    return found


class _Loaded:
    """Variant in a process of its own, with its input texts."""

    def __init__(
        self,
        folder: Path,
        texts: list[str],
        examples: int,
        given: int,
        new_tokens: int,
        device: Device,
    ):
        generator, self._figures = load_measured(load_generator, folder)
        self._generator = generator
        if device.accelerator != "cpu":
            generator.on(device, GPU_PRECISION)
        self._search = SearchSettings(beam=1, max_tokens=new_tokens, min_tokens=new_tokens)
        encoder = Encoder(generator.model, generator.tokenizer, given, 0)
        if generator.pairs:
            found, longest = encoder.tokens(texts, given), max(given, new_tokens)
        else:
            stream, longest = encoder.stream(texts), given + new_tokens
            found = [stream[place * given : (place + 1) * given] for place in range(examples)]
            found = [text for text in found if len(text) == given]
        if generator.positions is not None and longest > generator.positions:
            raise InputError(
                f"{given} tokens given and {new_tokens} new ones, but there are "
                f"{generator.positions:,} positions; lower one"
            )
        if not found:
            raise InputError("the test part is too short to time; give it more text")
        self._device = next(generator.model.parameters(), torch.empty(0)).device
        self._texts = [torch.tensor([text], device=self._device) for text in found]

    def seconds(self, examples: int | None = None) -> float:
        """Time all examples, or the first `examples` of them."""
        return timed(self._generate, examples)

    @torch.inference_mode()
    def _generate(self, examples: int | None) -> None:
        for text in self._texts[:examples]:
            self._generator.generate(
                input_ids=text,
                attention_mask=torch.ones_like(text),
                settings=self._search,
                pad_token_id=self._generator.tokenizer.eos_token_id,
            )
        if self._device.type == "cuda":
            torch.cuda.synchronize()

    def figures(self) -> dict[str, Any]:
        """Return the figures that are the same in all rounds, and the memory after all rounds."""
        lengths = [text.shape[1] for text in self._texts]
        return {
            "examples": len(lengths),
            "given_tokens": statistics.fmean(lengths),
            **self._figures,
            **self._place(),
        }

    def _place(self) -> dict[str, Any]:
        """Return the device's name, precision and memory, if it is a GPU; otherwise the process's memory."""
        if self._device.type == "cpu":
            return {"peak_mib": memory(peak=True)}
        return {
            "idle_mib": 0.0,
            "peak_mib": torch.cuda.max_memory_allocated() / MIB,
            "hardware": torch.cuda.get_device_name(),
            "device": self._device.type,
            "precision": GPU_PRECISION,
        }
