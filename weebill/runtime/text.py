"""Text in, text out by the runtime: a model folder, or the folders of an ensemble, as a `TextTranslator`."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from weebill.errors import InputError, nearest
from weebill.files import read_json
from weebill.kernels.extension import PORTABLE, check_instruction_set, fastest
from weebill.runtime.engines import fits_extension
from weebill.runtime.shortlist import Shortlist
from weebill.runtime.translator import Runtime
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.search import Candidate, Progress, SearchOptions
from weebill.translation.translator import PieceTranslator, load_models


class RuntimeTranslator(PieceTranslator):
    """A student in the runtime, with its vocabulary.

    runtimes: one for each thread of the translation; equal ones.
    """

    def __init__(self, runtimes: Sequence[Runtime], vocabulary: Vocabulary, isa: str):
        self.runtimes, self.vocabulary, self.isa = list(runtimes), vocabulary, isa

    @property
    def shortlist(self) -> Shortlist | None:
        """What may stand in a translation; None: any piece."""
        return self.runtimes[0].shortlist

    def _greedy(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[int]]:
        return self._shared(Runtime.translate, sources, options, progress)

    def _search(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[Candidate]]:
        return self._shared(Runtime.search, sources, options, progress)

    def _shared(self, work: Callable, sources: list[list[int]], *arguments) -> list:
        """What the threads make of the sources, long and short ones dealt out evenly, in the input's order."""
        if len(self.runtimes) == 1:  # no thread to start for each single sentence
            return work(self.runtimes[0], sources, *arguments)
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
        hands = [order[thread :: len(self.runtimes)] for thread in range(len(self.runtimes))]
        with ThreadPoolExecutor(len(self.runtimes)) as threads:
            parts = threads.map(
                lambda runtime, hand: work(runtime, [sources[i] for i in hand], *arguments),
                self.runtimes,
                hands,
            )
        results: list = [None] * len(sources)
        for hand, part in zip(hands, parts, strict=True):
            for index, result in zip(hand, part, strict=True):
                results[index] = result
        return results


def load_runtime(
    folders: str | Path | Sequence[str | Path],
    isa: str | None = None,
    shortlist: str | Path | None = None,
    threads: int = 1,
    precision: str = "float32",
) -> RuntimeTranslator:
    """The translator of a model folder, or of an ensemble of several with one vocabulary.

    isa: an instruction set of `extension` or `portable`; without, the fastest that this machine and the
    models allow.  shortlist: a file of `Shortlist.save`.  threads: that translate at the same time, each with
    its own copy of the weights.  precision: of the products of models in float32: that, or bfloat16.
    Raises InputError where a file is missing, damaged or of another vocabulary, or the instruction set
    cannot be had.
    """
    models = load_models(folders)
    networks = [model.network for model in models]
    if isa is None:
        isa = best_isa(networks)
    else:
        check_instruction_set(isa)
    vocabulary, chosen = models[0].vocabulary, None
    if shortlist is not None:
        chosen = Shortlist.load(shortlist, len(vocabulary), vocabulary.sha256)
    runtimes = [Runtime(networks, isa, chosen, precision) for _ in range(threads)]
    return RuntimeTranslator(runtimes, vocabulary, isa)


def of_precision(folder: str | Path, precision: str | None) -> Path:
    """The model folder of a precision: `folder` itself, or the one of that name below it.

    A student's folder results/EXP/models/STUDENT/RECIPE holds one for each precision.
    Raises InputError where there is no such precision.
    """
    path = Path(folder)
    if (path / "config.json").is_file():
        found = _precision_in(read_json(path / "config.json"))
        if found is not None and precision not in (None, found, path.name):
            raise InputError(f"{path}: a model in {found}, not {precision}; quantize it first")
        return path
    there = sorted(one.parent.name for one in path.glob("*/config.json"))
    if not there:
        return path  # which is no model folder: loading says what is wrong
    if precision is None and len(there) > 1:
        raise InputError(
            f"{path}: holds several models; choose one by --precision {'|'.join(there)}"
        )
    if precision is not None and precision not in there:
        raise InputError(f"{path}: precision '{precision}'{nearest(precision, there)}")
    return path / (precision or there[0])


def _precision_in(config: Any) -> str | None:
    """The grid that a config.json names, or float32; None where it is damaged: loading says what is wrong."""
    section = config.get("quantization", {}) if isinstance(config, dict) else None
    return section.get("grid", "float32") if isinstance(section, dict) else None


def best_isa(networks: Sequence[Translator]) -> str:
    """The fastest way to run networks here; `portable` where the extension cannot be compiled or hold them."""
    if all(map(fits_extension, networks)):
        return fastest()
    logging.warning(
        "the compiled runtime is left out, PyTorch translates: it cannot hold this model "
        "(its width, or weights left in float32)"
    )
    return PORTABLE
