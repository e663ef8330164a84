"""Number of a translation experiment's jobs, and the time of its measurements.

These dominate small experiments.  Times are seconds of one CPU thread, measured on the demo and on Multi30k.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weebill.configuration.cost import CorpusSize, Weights, Work, search_seconds, weights
from weebill.configuration.rates import Rates
from weebill.experiment.precisions import INTEGER_GRIDS, grid_of, quantized
from weebill.experiment.scores import STAGES, scores_of
from weebill.experiment.training_texts import kinds_made_of
from weebill.experiment.variants import measured_variants
from weebill.pruning.recipes import made_variants

CHAIN = 14  # jobs of the longest chain, from the import to the report
REPORT_JOBS = 16  # vocabulary, checks of teachers, merged text, speed, tables, figures, pages
SENTENCE = 0.004  # translation of a sentence by PyTorch without its products: time of the calls
ENTRANT = 3.0  # loading an engine for speed and latency, besides its rounds
RUNTIME = 8  # the runtime's speed relative to PyTorch's


def jobs(work: Work) -> int:
    """Return the approximate number of jobs of an experiment."""
    config = work.config
    names, made = config["corpora"], quantized(config["quantization"])
    kinds = sum(len(kinds_made_of(config, name)) for name in names)
    scores = sum(len(scores_of(config, name, stage)) for name in names for stage in STAGES)
    variants = made_variants(config)
    untuned = [one for one in variants if one[2] in made and not made[one[2]].finetuned]
    calibrated = {one[:2] for one in variants if one[2] in made and made[one[2]].activation_scale}
    measured = measured_variants(config)
    students = {student for student, *_ in measured}
    return sum(
        (
            REPORT_JOBS,
            2 * len(names) + 1 + len(config["test_sets"]),  # imported, cleaned
            scores + config["distillation"]["shards"] * kinds,
            sum(len(own) for own in work.networks.values()) + len(work.student_trainings()),
            len(untuned) + len(calibrated),
            (2 + len(measured)) * len(config["test_sets"]) + 2 * len(students),
            sum(grid_of(one[2]) in INTEGER_GRIDS for one in measured if "shortlist" in config),
        )
    )


def seconds(work: Work, test_sets: Sequence[CorpusSize]) -> float:
    """Return the seconds to translate the test sets with all variants, and to time the variants on the CPU."""
    config = work.config
    teacher = work.networks.get("teacher", [])
    teachers = [(teacher, beam) for beam in (config["distillation"]["beam"], 1)]
    students = [
        ([weights(work.zoo[student], config)], 1) for student, *_ in measured_variants(config)
    ]
    found = sum(_searching(work.rates, test_sets, *one) for one in [*teachers, *students])
    speed = config["evaluation"]["speed"]
    most = min(speed["teacher_sentences"], speed["sentences"])
    found += sum(_timing(speed, most, (1,), test_sets, *one) for one in teachers)
    both = (1, RUNTIME)
    return found + sum(
        _timing(speed, speed["sentences"], both, test_sets, *one) for one in students
    )


def _searching(
    rates: Rates, test_sets: Sequence[CorpusSize], networks: Sequence[Weights], beam: int
) -> float:
    """Return the seconds that some networks take to translate all test sets."""
    rows = sum(size.rows or 0 for size in test_sets)
    found = sum(search_seconds(rates, size, own, beam) for size in test_sets for own in networks)
    return found + SENTENCE * len(networks) * rows


def _timing(
    speed: Mapping[str, Any],
    sentences: int,
    engines: Sequence[float],
    test_sets: Sequence[CorpusSize],
    networks: Sequence[Weights],
    beam: int,
) -> float:
    """Return the seconds to time a variant in all rounds; engines: speed of each relative to PyTorch."""
    if not sentences:
        return 0.0
    rows = sum(size.rows or 0 for size in test_sets)
    rates = Rates.of({"accelerator": "cpu", "threads": 1})  # even if the experiment has a GPU
    once = _searching(rates, test_sets, networks, beam) * sentences / max(rows, 1)
    each = (max(speed["least_seconds"], once / faster) for faster in engines)
    # Each round times each engine on one core and on all.
    return len(engines) * ENTRANT + 2 * speed["rounds"] * sum(each)
