"""Common interface of our runtime and CTranslate2: made with a network, given a text in batches, timed by batch.

CTranslate2 has no SSRU, so its decoder has self-attention.  It reads its instruction set and its library for
products from the environment when it is imported, so it runs in a process of its own.
"""

import tempfile
from itertools import product
from pathlib import Path
from typing import Protocol

from weebill.benchmarks.runtime.workload import (
    Case,
    Sources,
    in_batches,
    random_network,
    random_shortlist,
    with_attention,
)
from weebill.evaluation.timing.processes import Worker
from weebill.evaluation.timing.timer import timed
from weebill.kernels.extension import PORTABLE, available, check_instruction_set
from weebill.runtime.translator import Runtime
from weebill.translation.search import SearchOptions


class Engine(Protocol):
    """Network ready to translate."""

    def prepare(self, text: Sources, size: int) -> None:
        """Lay out a text in batches of `size` sentences."""

    def translate(self) -> list[float]:
        """Translate the text once; return the seconds of each batch."""


def instruction_set(name: str | None) -> str:
    """Return the runtime's instruction set of a name; None: the fastest that this machine has.

    Raises InputError if it does not exist, or the machine lacks it.
    """
    if name is None:
        return [*available(), PORTABLE][0]
    check_instruction_set(name)
    return name


class Ours:
    """Network in the runtime."""

    def __init__(self, case: Case, isa: str):
        shortlist = random_shortlist(case.architecture.vocabulary) if case.shortlist else None
        self._runtime = Runtime([random_network(case)], isa, shortlist)
        self._batches: list[tuple[Sources, SearchOptions]] = []

    def prepare(self, text: Sources, size: int) -> None:
        """Implement `Engine`."""
        self._batches = [
            (
                batch,
                SearchOptions(
                    batch_size=size,
                    batch_tokens=10**6,
                    length_factor=0.0,
                    length_constant=limit,
                    allow_unknown=True,
                ),
            )
            for batch, limit in in_batches(text, size)
        ]

    def translate(self) -> list[float]:
        """Implement `Engine`."""
        return [timed(self._runtime.translate, batch, options) for batch, options in self._batches]


class CTranslate2:
    """Network in CTranslate2, on one thread."""

    def __init__(self, case: Case):
        import ctranslate2

        from weebill.runtime.exports.ctranslate2 import export

        case = Case(with_attention(case.architecture), case.precision, case.shortlist)
        vocabulary = case.architecture.vocabulary
        self._pieces = ["</s>", "<unk>", *(f"p{index}" for index in range(2, vocabulary))]
        self._shortlist = case.shortlist
        precision = None if case.precision == "float32" else case.precision
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "model"
            shortlist = random_shortlist(vocabulary) if case.shortlist else None
            network = random_network(Case(case.architecture, "float32"))
            export(network, self._pieces, folder, precision, shortlist)
            self._translator = ctranslate2.Translator(
                str(folder),
                "cpu",
                compute_type=case.precision,
                inter_threads=1,
                intra_threads=1,
            )
        self._batches: list[tuple[list[list[str]], int]] = []

    def prepare(self, text: Sources, size: int) -> None:
        """Implement `Engine`."""
        self._batches = [
            ([[self._pieces[piece] for piece in source[:-1]] for source in batch], limit)
            for batch, limit in in_batches(text, size)
        ]

    def translate(self) -> list[float]:
        """Implement `Engine`."""
        return [timed(self._search, batch, limit) for batch, limit in self._batches]

    def _search(self, batch: list[list[str]], limit: int) -> None:
        self._translator.translate_batch(
            batch,
            beam_size=1,
            use_vmap=self._shortlist,
            max_decoding_length=limit,
            min_decoding_length=limit,
        )


class Remote(Worker):
    """Engine in a process of its own, in which `make` creates it."""

    def prepare(self, text: Sources, size: int) -> None:
        """Implement `Engine`."""
        self.call("prepare", text, size)

    def translate(self) -> list[float]:
        """Implement `Engine`."""
        return self.call("translate")


LIMITS = {  # by our instruction set: variables that keep CTranslate2's libraries from faster ones
    isa: {"ONEDNN_MAX_CPU_ISA": onednn, "MKL_ENABLE_INSTRUCTIONS": mkl}
    for isa, onednn, mkl in (
        ("vnni", "AVX512_CORE_VNNI", "AVX512_E1"),
        ("avxvnni", "AVX2_VNNI", "AVX2_E1"),
        ("avx2", "AVX2", "AVX2"),
    )
}


def opponents_settings(isa: str) -> list[dict[str, str]]:
    """Return environments in which to try CTranslate2: its instruction sets and libraries for products.

    isa: ours.  If the processor has a faster instruction set, neither side may use it.
    """
    found = available()
    allowed = found[found.index(isa) :] if isa in found else found
    limits = LIMITS[isa] if allowed != found else {}
    sets = ["AVX512", "AVX2"] if {"amx", "vnni"}.intersection(allowed) else ["AVX2"]
    return [
        {"CT2_FORCE_CPU_ISA": one, "CT2_USE_MKL": mkl, **limits}
        for one, mkl in product(sets, ("0", "1"))
    ]
