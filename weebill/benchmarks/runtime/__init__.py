"""Runtime against CTranslate2 and against itself, with networks of random weights in the shapes of the zoo.

Both translate the same sentences, with the lengths of newstest2021, to outputs of the same length, and take turns on
one core; `cores` uses all cores.  CTranslate2 has self-attention instead of our decoder's SSRUs, and its best
settings here.  An --isa below the fastest keeps both sides from faster instruction sets.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from weebill.benchmarks import Option, Row
from weebill.benchmarks.runtime import measures
from weebill.benchmarks.runtime.marian_engines import PYTHONS
from weebill.benchmarks.runtime.marian_measures import against_marian
from weebill.configuration.zoo_file import load_zoo
from weebill.errors import InputError, nearest
from weebill.evaluation.timing.timer import one_thread
from weebill.experiment.zoo import MODELS_NAME, members
from weebill.kernels.extension import PORTABLE, available, check_instruction_set
from weebill_runtime.architecture import Architecture

OPPONENTS = ("ctranslate2",)  # packages whose versions are reported with the results
ARCHITECTURES = ("tiny", "base", "12-1.tiny")
VOCABULARY = 32000  # pieces of zoo entries without a number
SUBJECTS = {  # functions of (name, architecture, isa, sentences, rounds)
    "throughput": measures.against_ctranslate2,
    "pruning": measures.against_unpruned,
    "latency": measures.latency,
    "cores": measures.several_cores,
    "marian": against_marian,
    "memory": measures.growth,
}
USUAL = ("throughput", "pruning", "latency", "cores", "marian")  # memory needs a million sentences
SMALLEST = {"arch": ("tiny",), "sentences": 500}


def run(
    rounds: int,
    arch: Annotated[Sequence[str], Option(f"students of {MODELS_NAME}", "NAME")] = ARCHITECTURES,
    isa: Annotated[
        str | None,
        Option(
            "such as avx2 or dotprod, or portable for PyTorch; default the fastest of this processor",
            "ISA",
        ),
    ] = None,
    sentences: Annotated[int, Option("sentences of random pieces", "N")] = 3000,
    subjects: Annotated[
        Sequence[str],
        Option("subjects to measure; memory needs --sentences 1000000", choices=SUBJECTS),
    ] = USUAL,
    bergamot: Annotated[Path, Option("Python with bergamot", "PYTHON")] = PYTHONS["bergamot"],
    pymarian: Annotated[Path, Option("Python with pymarian", "PYTHON")] = PYTHONS["pymarian"],
    fxtranslate: Annotated[Path, Option("Python with fxtranslate", "PYTHON")] = PYTHONS[
        "fxtranslate"
    ],
) -> Iterator[Row]:
    """Yield the rows of every student and subject.  Raises InputError for an unknown student or instruction set."""
    isa = isa or [*available(), PORTABLE][0]
    check_instruction_set(isa)
    shapes = architectures(arch)
    pythons = {"bergamot": bergamot, "pymarian": pymarian, "fxtranslate": fxtranslate}
    options = {"marian": {"pythons": pythons}}
    with one_thread():
        for name, shape in shapes.items():
            for subject in subjects:
                given = options.get(subject, {})
                yield from SUBJECTS[subject](name, shape, isa, sentences, rounds, **given)


def architectures(names: Sequence[str]) -> dict[str, Architecture]:
    """Return the shapes of zoo entries by their names.  Raises InputError with a line for each invalid name."""
    zoo, faults = load_zoo(), []
    for name in names:
        if name not in zoo:
            faults.append(f"--arch: no model '{name}' in {MODELS_NAME}{nearest(name, zoo)}")
        elif len(members(zoo[name])) > 1:
            faults.append(f"--arch: '{name}' is an ensemble; name a single model")
    if faults:
        raise InputError("\n".join(faults))
    return {
        name: Architecture.from_zoo(zoo[name], zoo[name].get("vocabulary", VOCABULARY))
        for name in names
    }
