"""Translation speed on a GPU by mini-batch size: float32, float16 and int8, with and without a shortlist.

The sweep follows WNGT20's and WMT21's table 4.  PyTorch multiplies; int8 students multiply integers.
"""

import copy
import logging
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import torch

from weebill.errors import InputError
from weebill.evaluation.measurement import software_versions
from weebill.evaluation.timing.speed import count_words, silent
from weebill.evaluation.timing.timer import in_turn, timed
from weebill.kernels.extension import PORTABLE
from weebill.runtime.text import RuntimeTranslator
from weebill.runtime.translator import Runtime
from weebill.translation.model.network import Translator
from weebill.translation.model.packed_folder import load_any_model
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

PIECES = 10**6  # bound of a batch, so large that no batch is split
WARM_UP = 64  # sentences


@dataclass(frozen=True)
class GpuSpeed:
    """Timings of one student in one setting, over all rounds; words are the text's source words between spaces."""

    variant: str
    numbers: str  # "float32", "float16" or "int8"
    shortlist: bool
    batch_size: int
    sentences: int
    words: int
    seconds: list[float]  # one per round
    words_per_second: float  # median of the rounds
    hardware: str
    versions: dict[str, str]


def measure_gpu_speed(
    variants: Sequence[tuple[str, str | Path, str | Path | None]],
    sentences: Sequence[str],
    *,
    batch_sizes: Sequence[int],
    rounds: int,
    device: str = "cuda",
) -> list[GpuSpeed]:
    """Time every student, (name, folder, shortlist or None), by greedy search in every setting.

    Students with float32 weights run in float32 and in float16, those with integer weights in int8.  All run
    without a shortlist and, if there is one, also with it.  Splitting into pieces is timed, loading is not.
    Raises InputError if there are no words, or if a folder or the device is not available.
    """
    words = count_words(sentences)
    if not words:
        raise InputError("GPU speed: no words to translate; give a test set with text")
    translators = {}
    for name, folder, shortlist in variants:
        scale = load_any_model(folder).config.get("quantization", {}).get("activation_scale")
        for numbers in ("float32", "float16") if scale is None else ("int8",):
            found = _translators(folder, shortlist, numbers, device)
            translators |= {(name, numbers, listed): one for listed, one in found.items()}
    settings = [(*student, size) for student, size in product(translators, batch_sizes)]

    def seconds(name: str, numbers: str, listed: bool, size: int) -> float:
        translator = translators[name, numbers, listed]
        options = SearchOptions(batch_size=size, batch_tokens=PIECES)
        translator.translate(sentences[:WARM_UP], options)
        # The pieces are copied back to the CPU, so the GPU has finished its work.
        return timed(translator.translate, sentences, options)

    def told(place: str, setting: tuple[str, str, bool, int], taken: float) -> None:
        name, numbers, listed, size = setting
        logging.info(
            f"{place}: {name}, {numbers}{', shortlist' if listed else ''}, batch {size}: "
            f"{words / taken:.0f} words/s"
        )

    measures = {setting: partial(seconds, *setting) for setting in settings}
    return [
        GpuSpeed(
            *setting,
            sentences=len(sentences),
            words=words,
            seconds=taken,
            words_per_second=statistics.median(words / one for one in taken),
            hardware=torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
            versions=software_versions(),
        )
        for setting, taken in in_turn(measures, rounds, told=told).items()
    ]


def _translators(
    folder: str | Path, shortlist: str | Path | None, numbers: str, device: str
) -> dict[bool, RuntimeTranslator]:
    """Load a student as translators without its shortlist (False) and with it (True); they share its weights."""
    model = load_any_model(folder)
    pieces = model.vocabulary
    runtimes = {False: Runtime([on_device(model.network, numbers, device)], PORTABLE)}
    if shortlist is not None:
        runtimes[True] = copy.copy(runtimes[False])  # shares engines, so that large students fit
        runtimes[True].shortlist = Shortlist.load(shortlist, pieces.sizes, pieces.sha256)
    return {
        listed: silent(RuntimeTranslator([runtime], pieces, PORTABLE))
        for listed, runtime in runtimes.items()
    }


def on_device(network: Translator, numbers: str, device: str) -> Translator:
    """Move a network to a device; "float16" halves its numbers.  Raises InputError if the device is not available."""
    try:
        network = network.to(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"{device}: not available here; set hardware.accelerator: cpu") from error
    return network.half() if numbers == "float16" else network
