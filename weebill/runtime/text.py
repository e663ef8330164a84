"""Translation of text by the runtime: a model folder, or those of an ensemble, as a `TextTranslator`.

PyTorch is imported only where the compiled engine cannot serve: for beams, samples, ensembles, scores, and models or
machines that it does not support.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.files import check_plain, read_json
from weebill.kernels.extension import PORTABLE, check_instruction_set, fastest
from weebill_runtime.compiled import Engine, packed
from weebill_runtime.folder import Folder, check_vocabularies, read_folder
from weebill_runtime.options import SearchOptions, check_count
from weebill_runtime.packing import fits_engine
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.student import Student
from weebill_runtime.translator import StudentTranslator
from weebill_runtime.weights import Weights


class RuntimeTranslator(StudentTranslator):
    """Student or ensemble in the runtime, with the searches of PyTorch."""

    @property
    def encoding_threads(self) -> int:
        """Number of threads that divide sentences into pieces, by the engines' device."""
        device = getattr(self.student.engines[0], "device", None)
        if device is None:  # the compiled engine
            return 1
        from weebill.kernels.cuda import text_threads

        return text_threads(device)

    def _greedy(self, sources, options, progress) -> list[list[int]]:
        if len(self.student.engines) == 1:
            return self._shared(Student.translate, sources, options, progress)
        from weebill.runtime.searching import greedy

        return self._shared(greedy, sources, options, progress)

    def _search(self, sources, options, progress) -> list:
        from weebill.runtime.searching import search

        return self._shared(search, sources, options, progress)

    def _force_decode(
        self, sources: list[list[int]], targets: list[list[int]], options: SearchOptions
    ) -> list[float]:
        from weebill.runtime.searching import force_decode

        return self._shared(force_decode, list(zip(sources, targets, strict=True)), options)


def load_runtime(
    folders: str | Path | Sequence[str | Path],
    isa: str | None = None,
    shortlist: str | Path | None = None,
    threads: int = 1,
    precision: str = "float32",
    device: str = "cpu",
) -> RuntimeTranslator:
    """Load the translator of a model folder, or of an ensemble of several with equal vocabularies.

    isa: as in `Runtime`; None: the fastest that this machine and the models allow.  shortlist: a file of
    `save_shortlist`.  threads: number of threads that translate in parallel, each with a copy of the weights.
    precision: type of the products of float32 weights.  device: on a GPU, PyTorch translates, with one thread, and
    `precision` is that of `running.ready`.
    Raises InputError if a file is missing, damaged or of another vocabulary, or the instruction set is not available.
    """
    paths = [folders] if isinstance(folders, str | Path) else list(folders)
    if not paths:
        raise ValueError("at least one model folder is needed")
    check_count("threads", threads)
    for path in (*paths, *([] if shortlist is None else [shortlist])):
        check_plain(path)
    models = [read_folder(path) for path in paths]
    check_vocabularies(models)
    if device != "cpu":
        isa = PORTABLE
    elif isa is None:
        isa = best_isa([model.weights for model in models])
    else:
        check_instruction_set(isa)
    vocabulary, chosen = models[0].vocabulary, None
    if shortlist is not None:
        chosen = Shortlist.load(shortlist, vocabulary.sizes, vocabulary.sha256)
    if isa == PORTABLE:
        students = _portable(models, chosen, threads, precision, device)
    else:
        parts = [packed(model.weights, isa, precision) for model in models]
        architecture = models[0].weights.architecture
        students = [
            Student([Engine(*one) for one in parts], architecture, chosen) for _ in range(threads)
        ]
    return RuntimeTranslator(students, vocabulary, isa)


def _portable(
    models: Sequence[Folder],
    shortlist: Shortlist | None,
    threads: int,
    precision: str,
    device: str,
) -> list[Student]:
    from weebill.runtime.translator import Runtime
    from weebill.translation.loading import load_models
    from weebill.translation.running import ready

    networks = [model.network for model in load_models([model.path for model in models])]
    if device != "cpu":
        return [Runtime([ready(one, device, precision) for one in networks], PORTABLE, shortlist)]
    return [Runtime(networks, PORTABLE, shortlist, precision) for _ in range(threads)]


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


def best_isa(models: Sequence[Weights]) -> str:
    """Return the fastest way to run models here; `portable` if the engine cannot."""
    if all(map(fits_engine, models)):
        return fastest()
    logging.warning(
        "the compiled runtime is left out, PyTorch translates: it cannot hold this model "
        "(its width, or weights left in float32)"
    )
    return PORTABLE
