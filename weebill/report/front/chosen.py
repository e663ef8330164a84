"""Models that the first page of a translation experiment shows: the best of each kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.experiment.student_names import repeats
from weebill.experiment.variants import UNPRUNED
from weebill.pruning.methods import pruning_method
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results

SMALL = 0.5  # largest size of a small student, relative to the best unpruned float32 model


def roles(results: Results) -> Mapping[Variant, str]:
    """Return the models of the first page with their roles: the teacher, each student, and the best smaller ones.

    The best model of a kind has the highest measured BLEU; baselines of pruning and trainings from other seeds are
    left out.
    """
    scores = lookup.scores(results)
    own = lookup.teacher(results)
    teachers = [v for v in lookup.variants(results) if v.student == lookup.TEACHER]
    found = {v: f"teacher, {v.recipe}" for v in teachers if v == own or lookup.speed(results, v)}
    students = _students(results)
    found |= {v: "student" for v in students if v == v.baseline}
    kinds = {
        "pruned": lambda v: v.recipe != UNPRUNED and v.precision == "float32",
        "quantized": lambda v: v.recipe == UNPRUNED and v.precision != "float32",
        "pruned, quantized": lambda v: v.recipe != UNPRUNED and v.precision != "float32",
    }
    for role, belongs in kinds.items():
        if some := [v for v in students if v in scores and belongs(v)]:
            found[best(results, some)] = role
    if small := best_small(results):
        found.setdefault(small, "smaller")
    return found


def _students(results: Results) -> list[Variant]:
    """Return the students that may be the best: with a score and the experiment's seed, but no pruning baselines."""
    scores = lookup.scores(results)
    found = [v for v in lookup.students(results) if v in scores and not repeats(v.student)]
    return [v for v in found if not is_baseline(results.config, v.recipe)]


def best_whole(results: Results) -> Variant | None:
    """Return the best unpruned float32 student."""
    wholes = [v for v in _students(results) if v == v.baseline]
    return best(results, wholes) if wholes else None


def best_small(results: Results) -> Variant | None:
    """Return the best student with at most half the bytes of the best unpruned student, or else the latter."""
    whole = best_whole(results)
    if whole is None:
        return None
    limit = SMALL * results.size(whole).parameter_bytes
    small = [v for v in _students(results) if results.size(v).parameter_bytes <= limit]
    return best(results, small or [whole])


def best(results: Results, students: Sequence[Variant]) -> Variant:
    """Return the student with the highest BLEU; the smallest wins ties."""
    scores = lookup.scores(results)
    return max(students, key=lambda v: (scores[v].bleu, -results.size(v).parameter_bytes))


def is_baseline(config: Mapping[str, Any], recipe: str) -> bool:
    """Return True for a recipe that other recipes should beat, such as a random choice of heads."""
    settings = config.get("pruning", {}).get(recipe)
    return bool(settings) and pruning_method(settings).baseline is not None
