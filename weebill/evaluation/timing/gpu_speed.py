"""Translation speed on a GPU by mini-batch size and type of numbers, with and without a shortlist.

The sweep follows WNGT20's and WMT21's table 4.  PyTorch computes products, of integers for int8 students.
Each setting is warmed up by a whole pass, so that every shape has been seen, and is scored by the translations that
were timed.
"""

import copy
import logging
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import torch

from weebill.errors import InputError
from weebill.evaluation.measurement import software_versions
from weebill.evaluation.timing.gpu_text import TimedText
from weebill.evaluation.timing.speed import silent
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.files import MIB
from weebill.kernels.accelerator import check_device
from weebill.kernels.cuda import freed
from weebill.kernels.extension import PORTABLE
from weebill.runtime.text import RuntimeTranslator
from weebill.runtime.translator import Runtime
from weebill.translation.model.folder import Model
from weebill.translation.model.packed_folder import load_any_model
from weebill.translation.running import cast
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

PIECES = 10**6  # bound of a batch, so large that no batch is split
NUMBERS = ("float32", "float16", "bfloat16")  # of students whose weights are no integers

Setting = tuple[str, bool]  # kind of numbers, and True with a shortlist


@dataclass(frozen=True)
class GpuSpeed:
    """Timings of one student in one setting, over all rounds; words are the text's source words between spaces.

    A batch of 1 is translated sentence by sentence, each in a call of its own; other batches are of similar lengths.
    """

    variant: str
    numbers: str  # "float32", "float16", "bfloat16" or "int8"
    shortlist: bool
    batch_size: int
    sentences: int
    words: int
    seconds: list[float]  # one per round
    words_per_second: float  # median of the rounds
    hardware: str
    versions: dict[str, str]
    bleu: dict[str, float] = field(default_factory=dict)  # by test set, of the last round's output
    signature: str = ""  # of BLEU
    memory_mib: float | None = None  # the most on the GPU, weights included; None on a CPU
    text: str = ""  # test sets and corpus whose sentences are timed, in this order

    @property
    def sentence_ms(self) -> float | None:
        """Milliseconds of a sentence translated alone, in the median round; None for larger batches."""
        return (
            1000 * statistics.median(self.seconds) / self.sentences
            if self.batch_size == 1
            else None
        )


def measure_gpu_speed(
    variants: Sequence[tuple[str, str | Path, str | Path | None]],
    text: TimedText,
    *,
    batch_sizes: Sequence[int],
    rounds: int,
    numbers: Sequence[str] = NUMBERS,
    latency_sentences: int = 200,
    target: str = "",
    device: str = "cuda",
) -> list[GpuSpeed]:
    """Time every student, (name, folder, shortlist or None), by greedy search in every setting.

    Students with integer weights run in int8, others in all of `numbers`.  All run without a shortlist and, if there
    is one, also with it.  The settings of a student and a batch size are timed in turn.  A batch size of 1 takes the
    first `latency_sentences`.  Splitting into pieces is timed, loading is not.  A setting that the GPU's memory does
    not hold, or whose numbers overflow float16, is left out, and the log says so.  target: language or tokenizer of
    BLEU.
    Raises InputError if a folder or the device is not available.
    """
    check_device(device)
    speeds = []
    for name, folder, shortlist in variants:
        model = load_any_model(folder)
        scale = model.config.get("quantization", {}).get("activation_scale")
        kinds = numbers if scale is None else ("int8",)
        settings = list(product(kinds, (False,) if shortlist is None else (False, True)))
        listed = shortlist and Shortlist.load(
            shortlist, model.vocabulary.sizes, model.vocabulary.sha256
        )
        for size in batch_sizes:
            given = text.first(latency_sentences) if size == 1 else text
            place = f"{name}, batch {size}"
            found = _timed(model, settings, listed, given, size, rounds, device, place)
            for (kind, uses), (one, seconds) in found.items():
                speeds.append(
                    GpuSpeed(
                        name,
                        kind,
                        uses,
                        size,
                        sentences=len(given.sentences),
                        words=given.words,
                        seconds=seconds,
                        words_per_second=statistics.median(given.words / each for each in seconds),
                        hardware=torch.cuda.get_device_name(device) if _is_gpu(device) else device,
                        versions=software_versions(),
                        bleu=given.scores(one.translations, target),
                        signature=given.signature(target),
                        memory_mib=one.memory_mib,
                        text=given.name,
                    )
                )
    return speeds


def _timed(
    model: Model,
    settings: Sequence[Setting],
    shortlist: Shortlist | None,
    text: TimedText,
    size: int,
    rounds: int,
    device: str,
    place: str,
) -> Mapping[Setting, tuple["_Entrant", list[float]]]:
    """Time a student's settings in turn; return each with the seconds of every round."""
    with freed(device):
        entrants = {}
        for numbers, uses in settings:
            named = f"{place}, {numbers}{', shortlist' if uses else ''}"
            try:
                one = _Entrant(model, numbers, shortlist if uses else None, text, size, device)
            except torch.OutOfMemoryError:
                logging.warning(f"{named}: not measured, the GPU's memory does not hold it")
                continue
            except InputError as error:
                if numbers != "float16":
                    raise
                logging.warning(f"{named}: not measured: {error}")  # its numbers overflow
                continue
            entrants[numbers, uses] = named, one
        found = in_turn(
            {setting: one.seconds for setting, (_, one) in entrants.items()},
            rounds,
            told=lambda round, setting, taken: logging.info(
                f"{round}: {entrants[setting][0]}: {text.words / taken:.0f} words/s"
            ),
        )
        for _, one in entrants.values():
            one.leave()
        return {setting: (entrants[setting][1], seconds) for setting, seconds in found.items()}


class _Entrant:
    """Student on the device in one setting, warm, with its last translations and the memory that it takes."""

    def __init__(
        self,
        model: Model,
        numbers: str,
        shortlist: Shortlist | None,
        text: TimedText,
        size: int,
        device: str,
    ):
        self._text, self._one_by_one = text, size == 1
        self._options = SearchOptions(batch_size=size, batch_tokens=PIECES)
        before = _allocated(device)
        network = cast(copy.deepcopy(model.network).to(device), running(numbers))
        self._translator: Any = silent(
            RuntimeTranslator([Runtime([network], PORTABLE, shortlist)], model.vocabulary, PORTABLE)
        )
        del network  # the engine has its own
        if _is_gpu(device):
            torch.cuda.reset_peak_memory_stats(device)
        self.translations = self._translate()
        most = torch.cuda.max_memory_allocated(device) if _is_gpu(device) else None
        self.memory_mib = None if most is None else (most - before) / MIB

    def _translate(self) -> list[str]:
        sentences, translate = self._text.sentences, self._translator.translate
        if self._one_by_one:
            return [translate([one], self._options)[0] for one in sentences]
        return translate(sentences, self._options)

    def seconds(self) -> float:
        """Translate the text and return the seconds; pieces are copied back, so the GPU has finished its work."""

        def work() -> None:
            self.translations = self._translate()

        return timed(work)

    def leave(self) -> None:
        """Free the student's memory; the translations that are scored stay."""
        self._translator, self.translations = None, self.translations[: self._text.scored]


def running(numbers: str) -> str:
    """Return the precision of a network for a type of numbers: int8 students compute all else in float32."""
    return "float32" if numbers == "int8" else numbers


def _is_gpu(device: str) -> bool:
    return device.startswith("cuda")


def _allocated(device: str) -> int:
    return torch.cuda.memory_allocated(device) if _is_gpu(device) else 0
