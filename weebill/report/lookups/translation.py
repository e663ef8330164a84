"""Lookups in the results of a translation experiment, by variant."""

from weebill.evaluation.measurement import Measurement, Variant
from weebill.evaluation.timing.speed import Speed
from weebill.report import papers
from weebill.report.results import Results

TEACHER = "teacher"
METRICS = {"bleu": "BLEU", "comet": "COMET"}  # by the beginning of a column's name


def test_sets(results: Results) -> list[str]:
    """Names of the test sets, in the configuration's order."""
    return list(results.config["test_sets"])


def variants(results: Results) -> list[Variant]:
    """All variants that were measured, in the order of the configuration."""
    return [Variant.parse(size.variant) for size in results.sizes]


def teacher(results: Results) -> Variant | None:
    """The teacher in its own search, the beam; where that is 1, greedily."""
    own = (v for v in variants(results) if v.student == TEACHER)
    found = [v for v in own if not v.recipe.startswith("mbr-")]
    return next((v for v in found if v.recipe != "greedy"), found[0] if found else None)


def students(results: Results) -> list[Variant]:
    """The students' models, each once: teachers and further searches are left out."""
    return [v for v in variants(results) if v.student != TEACHER and not v.is_search]


def searches(results: Results, student: str) -> list[Variant]:
    """A student's unpruned model in further searches than the greedy one."""
    return [v for v in variants(results) if v.student == student and v.is_search]


def row_of(results: Results, variant: Variant, paper: str) -> str | None:
    """The row of the paper's table 1 that a variant's student stands beside, None where none."""
    named = results.config["report"]["rows"].get(variant.student, {}).get(paper)
    if named:
        return named
    printed = list(papers.load_table(paper, 1)["model"])
    if variant.student == TEACHER:
        return next(row for row in printed if row.startswith(TEACHER))
    return variant.student if variant.student in printed else None


def measurement(
    results: Results, variant: Variant, test_set: str, metric: str
) -> Measurement | None:
    """One score with its interval, None where it was not measured."""
    wanted = (str(variant), test_set, metric)
    rows = (m for m in results.qualities if (m.variant, m.test_set, m.metric) == wanted)
    return next(rows, None)


def column(results: Results, variant: Variant, paper: str, column: str) -> float | None:
    """BLEU or COMET in a paper's column: the mean over the test sets that `report.columns` names.

    COMET's are those of the column of BLEU.
    """
    metric, test_set = column.split("_", 1)
    names = results.config["report"]["columns"].get(paper, {}).get(f"bleu_{test_set}")
    if not names:
        return None
    return _mean([measurement(results, variant, name, METRICS[metric]) for name in names])


def mean(results: Results, variant: Variant) -> float | None:
    """The mean BLEU over all test sets."""
    return _mean([measurement(results, variant, name, "BLEU") for name in test_sets(results)])


def _mean(rows: list[Measurement | None]) -> float | None:
    return None if None in rows else sum(row.score for row in rows) / len(rows)


def engines(results: Results, variant: Variant) -> list[str]:
    """What a variant was timed by: first the runtime as it is scored, without a shortlist; PyTorch last."""
    rows = [row for row in results.speeds if row.variant == str(variant)]
    rows.sort(key=lambda row: (not row.by_runtime, "shortlist" in row.engine))
    return list(dict.fromkeys(row.engine for row in rows))


def speed(
    results: Results, variant: Variant, all_cores: bool = False, engine: str | None = None
) -> Speed | None:
    """A variant's speed on one core, or on all in the fastest way to share them out.

    engine: one of `engines`; without, the first, so that students are the runtime's where they can be.
    """
    chosen = engine or next(iter(engines(results, variant)), None)
    cores = max((row.cores for row in results.speeds), default=1) if all_cores else 1
    rows = [
        row
        for row in results.speeds
        if (row.variant, row.engine, row.cores) == (str(variant), chosen, cores)
    ]
    return max(rows, key=lambda row: row.words_per_second, default=None)
