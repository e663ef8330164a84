"""Translation of text by the runtime: a model folder, or those of an ensemble, as a `TextTranslator`."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partialmethod
from itertools import chain
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.files import read_json
from weebill.kernels.extension import PORTABLE, check_instruction_set, fastest
from weebill.runtime.engines import fits_extension
from weebill.runtime.shortlist import Shortlist
from weebill.runtime.translator import Runtime
from weebill.translation.loading import load_models
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary_pair import AnyVocabulary
from weebill.translation.search import SearchOptions
from weebill.translation.translator import PieceTranslator


class RuntimeTranslator(PieceTranslator):
    """Student in the runtime, with its vocabulary; runtimes: equal ones, one for each thread."""

    def __init__(self, runtimes: Sequence[Runtime], vocabulary: AnyVocabulary, isa: str):
        self.runtimes, self.vocabulary, self.isa = list(runtimes), vocabulary, isa

    @property
    def shortlist(self) -> Shortlist | None:
        """Pieces that may stand in a translation; None: any piece."""
        return self.runtimes[0].shortlist

    def _shared(self, work: Callable, sources: Sequence, *arguments) -> list:
        """Divide the sources among the threads, long and short ones evenly; return results in the input's order."""
        runtimes, count = self.runtimes, len(self.runtimes)
        if count == 1:  # do not start a thread for each single sentence
            return work(runtimes[0], sources, *arguments)
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
        hands = [order[thread::count] for thread in range(count)]
        shares = [[sources[index] for index in hand] for hand in hands]
        with ThreadPoolExecutor(count) as threads:
            parts = threads.map(lambda one, share: work(one, share, *arguments), runtimes, shares)
        results = dict(zip(chain(*hands), chain(*parts), strict=True))
        return [results[index] for index in range(len(sources))]

    _greedy = partialmethod(_shared, Runtime.translate)
    _search = partialmethod(_shared, Runtime.search)

    def _force_decode(
        self, sources: list[list[int]], targets: list[list[int]], options: SearchOptions
    ) -> list[float]:
        pairs = list(zip(sources, targets, strict=True))
        return self._shared(Runtime.force_decode, pairs, options)


def load_runtime(
    folders: str | Path | Sequence[str | Path],
    isa: str | None = None,
    shortlist: str | Path | None = None,
    threads: int = 1,
    precision: str = "float32",
) -> RuntimeTranslator:
    """Load the translator of a model folder, or of an ensemble of several with equal vocabularies.

    isa: as in `engine_for`; None: the fastest that this machine and the models allow.  shortlist: a file of
    `Shortlist.save`.  threads: number of threads that translate in parallel, each with a copy of the weights.
    Raises InputError if a file is missing, damaged or of another vocabulary, or the instruction set is not available.
    """
    models = load_models(folders)
    networks = [model.network for model in models]
    if isa is None:
        isa = best_isa(networks)
    else:
        check_instruction_set(isa)
    vocabulary, chosen = models[0].vocabulary, None
    if shortlist is not None:
        chosen = Shortlist.load(shortlist, vocabulary.sizes, vocabulary.sha256)
    runtimes = [Runtime(networks, isa, chosen, precision) for _ in range(threads)]
    return RuntimeTranslator(runtimes, vocabulary, isa)


def of_precision(folder: str | Path, precision: str | None) -> Path:
    """Return the model folder of a precision: `folder` itself, or one in it.  Raises InputError if there is none."""
    path = Path(folder)
    if (path / "config.json").is_file():
        config = read_json(path / "config.json")
        section = config.get("quantization", {}) if isinstance(config, dict) else None
        # None if the section is damaged: loading reports the fault.
        found = section.get("grid", "float32") if isinstance(section, dict) else None
        if found is not None and precision not in (None, found, path.name):
            raise InputError(f"{path}: a model in {found}, not {precision}; quantize it first")
        return path
    there = sorted(one.parent.name for one in path.glob("*/config.json"))
    if not there:
        return path  # no model folder: loading it reports the fault
    if precision is None and len(there) > 1:
        choice = "|".join(there)
        raise InputError(f"{path}: holds several models; choose one by --precision {choice}")
    if precision is not None and precision not in there:
        raise InputError(f"{path}: precision '{precision}'{nearest(precision, there)}")
    return path / (precision or there[0])


def best_isa(networks: Sequence[Translator]) -> str:
    """Return the fastest way to run networks here; `portable` if the extension cannot be compiled or hold them."""
    if all(map(fits_extension, networks)):
        return fastest()
    logging.warning(
        "the compiled runtime is left out, PyTorch translates: it cannot hold this model "
        "(its width, or weights left in float32)"
    )
    return PORTABLE
