"""Lookups in the results of a translation experiment, by variant."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Measurement, Variant
from weebill.report import papers
from weebill.report.results import Results, first
from weebill.report.table import fixed, three_digits

if TYPE_CHECKING:
    from weebill.evaluation.timing.gpu_speed import GpuSpeed
    from weebill.evaluation.timing.latency import Latency
    from weebill.evaluation.timing.speed import Speed

TEACHER = "teacher"
AT_ITS_SPEED = "; its seconds are those of all at its speed"  # for a teacher timed on a part
METRICS = {"bleu": "BLEU", "comet": "COMET"}  # beginning of a column's name → metric


@dataclass(frozen=True)
class Score:
    """BLEU of a variant over all test sets, with its interval if it was computed."""

    bleu: float
    low: float | None = None
    high: float | None = None


def variants(results: Results) -> list[Variant]:
    """Return all variants that were measured, in the order of the configuration."""
    return [Variant.parse(size.variant) for size in results.sizes]


def teacher(results: Results) -> Variant | None:
    """Return the teacher with its own beam, or with greedy search if its beam is 1."""
    own = (v for v in variants(results) if v.student == TEACHER)
    found = [v for v in own if not v.recipe.startswith("mbr-")]
    return next((v for v in found if v.recipe != "greedy"), found[0] if found else None)


def students(results: Results) -> list[Variant]:
    """Return the variants of students, each model once: without teachers and further searches."""
    return [v for v in variants(results) if v.student != TEACHER and not v.is_search]


def encoders(results: Results) -> dict[Variant, list[dict[str, int]]]:
    """Return the shapes of the encoder's layers of each float32 student whose shape is known."""
    sizes = {v: results.size(v) for v in students(results) if v.precision == "float32"}
    return {v: size.architecture["encoder"] for v, size in sizes.items() if size.architecture}


def searches(results: Results, student: str) -> list[Variant]:
    """Return the variants of a student's unpruned model that use another search than the greedy one."""
    return [v for v in variants(results) if v.student == student and v.is_search]


def row_of(results: Results, variant: Variant, paper: str) -> str | None:
    """Return the row of the paper's table 1 that corresponds to a variant's student, None if there is none."""
    named = results.config["report"]["rows"].get(variant.student, {}).get(paper)
    if named:
        return named
    printed = list(papers.load_table(paper, 1)["model"])
    if variant.student == TEACHER:
        return next((row for row in printed if row.startswith(TEACHER)), None)
    return variant.student if variant.student in printed else None


def measurement(
    results: Results, variant: Variant, test_set: str, metric: str = "BLEU"
) -> Measurement | None:
    """Return one score with its interval, None if it was not measured."""
    return first(results.qualities, variant=str(variant), test_set=test_set, metric=metric)


def column(results: Results, variant: Variant, paper: str, column: str) -> float | None:
    """Return BLEU or COMET for a paper's column: the mean over the test sets that `report.columns` names for BLEU."""
    metric, test_set = column.split("_", 1)
    names = results.config["report"]["columns"].get(paper, {}).get(f"bleu_{test_set}")
    if not names:
        return None
    return _mean([measurement(results, variant, name, METRICS[metric]) for name in names])


def timed_on_gpu(results: Results) -> "list[GpuSpeed]":
    """Return the timings of the whole text on a GPU, without those of sentences translated one by one."""
    return [one for one in results.gpu_speeds if one.batch_size > 1]


def timed_text(results: Results) -> list[str]:
    """Return a note about the text that was timed on a GPU and its BLEU; none if no whole text was timed."""
    return [
        f"Timed text: {one.text}; {one.words:,} source words in {one.sentences:,} sentences."
        + (f" BLEU of {', '.join(one.bleu)}: {one.signature}." if one.bleu else "")
        for one in timed_on_gpu(results)[:1]
    ]


def timed_bleu(results: Results, speed: "GpuSpeed", paper: str, column: str) -> float | None:
    """Return BLEU of the timed text for a paper's column: the mean over its test sets, None if one was not timed."""
    names = results.config["report"]["columns"].get(paper, {}).get(column)
    if not names or any(name not in speed.bleu for name in names):
        return None
    return statistics.fmean(speed.bleu[name] for name in names)


def mean_timed_bleu(speed: "GpuSpeed | None") -> str:
    """Format the mean BLEU over all test sets in the timed text; "" if there is none."""
    return fixed(statistics.fmean(speed.bleu.values()), 2) if speed and speed.bleu else ""


def mean(results: Results, variant: Variant) -> float | None:
    """Return the mean BLEU over all test sets, None if one was not measured."""
    return _mean([measurement(results, variant, name) for name in results.config["test_sets"]])


def scores(results: Results) -> dict[Variant, Score]:
    """Return one BLEU for each variant, all on the same text, which `scored_text` names.

    With one test set, it is the score on this set.  With several, it is the score of all their sentences together,
    for the variants that were compared in this way; if none was compared, it is the mean over the test sets.
    """
    found = {}
    if len(results.config["test_sets"]) > 1 and results.steps:
        for one in results.steps:
            base = Score(one.baseline_score, one.baseline_low, one.baseline_high)
            found.setdefault(one.baseline, base)
            found[one.variant] = Score(one.score, one.low, one.high)
        return {v: found[str(v)] for v in variants(results) if str(v) in found}
    [*others, last] = results.config["test_sets"]
    for variant in variants(results):
        if others and (average := mean(results, variant)) is not None:
            found[variant] = Score(average)
        elif not others and (one := measurement(results, variant, last)):
            found[variant] = Score(one.score, one.low, one.high)
    return found


def scored_text(results: Results) -> str:
    """Return the name of the text that `scores` uses: a test set, several together, or their mean."""
    sets = list(results.config["test_sets"])
    if len(sets) == 1:
        return sets[0]
    named = " and ".join([", ".join(sets[:-1]), sets[-1]])
    return f"{named} together" if results.steps else f"mean of {named}"


def encoder_heads(results: Results, variant: Variant) -> int | None:
    """Count a variant's encoder heads in all layers together, None if its shape is unknown."""
    size = results.size(variant)
    shape = size and size.architecture
    return sum(layer["heads"] for layer in shape["encoder"]) if shape else None


def _mean(rows: list[Measurement | None]) -> float | None:
    return None if None in rows else sum(row.score for row in rows) / len(rows)


def engines(results: Results, variant: Variant) -> list[str]:
    """Return the engines that timed a variant: first the runtime without shortlist, as for scores, last PyTorch."""
    rows = [row for row in results.speeds if row.variant == str(variant)]
    rows.sort(key=lambda row: (not row.by_runtime, "shortlist" in row.engine))
    return list(dict.fromkeys(row.engine for row in rows))


def speed(
    results: Results, variant: Variant, all_cores: bool = False, engine: str | None = None
) -> "Speed | None":
    """Return a variant's speed by an engine (default: the first) on one core, or on all in the best division."""
    chosen = engine or next(iter(engines(results, variant)), None)
    cores = max((row.cores for row in results.speeds), default=1) if all_cores else 1
    wanted = (str(variant), chosen, cores)
    rows = (row for row in results.speeds if (row.variant, row.engine, row.cores) == wanted)
    return max(rows, key=lambda row: row.words_per_second, default=None)


def runtime_speed(results: Results, variant: Variant, all_cores: bool = False) -> "Speed | None":
    """Return a variant's speed by the runtime, None if it was not timed with the runtime."""
    found = speed(results, variant, all_cores)
    return found if found and found.by_runtime else None


def words_per_second(speed: "Speed | GpuSpeed | None") -> str:
    """Format the source words per second, with decimals for slow teachers; "" if they were not measured."""
    return three_digits(speed.words_per_second) if speed else ""


def whole_text(results: Results) -> "Speed | None":
    """Return a timing of the whole text; some teachers translate only its first sentences."""
    return max(results.speeds, key=lambda row: row.words, default=None)


def source_words(speed: "Speed") -> str:
    """Tell how many source words were timed, and that they are letters in scripts without spaces."""
    if not speed.characters:
        return f"{speed.words:,} source words"
    return f"{speed.words:,} source words (letters, as the script has no spaces; {speed.characters:,} characters)"


def seconds(speed: "Speed | GpuSpeed | None", words: int) -> str:
    """Format the seconds for a text of `words` source words at a speed; "" if it was not measured."""
    return three_digits(words / speed.words_per_second) if speed else ""


def teachers_part(rows: "Sequence[Speed | Latency]", then: str = "") -> str:
    """Say which part of the timed sentences the teacher translated, and `then`; "" if it translated all."""
    fewest, most = (choose(row.sentences for row in rows) for choose in (min, max))
    return f" (the teacher: the first {fewest:,}{then})" if fewest < most else ""
