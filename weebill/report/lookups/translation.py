"""Lookups in the results of a translation experiment, by variant."""

from weebill.evaluation.measurement import Measurement, Variant
from weebill.evaluation.timing.speed import Speed
from weebill.report import papers
from weebill.report.results import Results

TEACHER = "teacher"
METRICS = {"bleu": "BLEU", "comet": "COMET"}  # beginning of a column's name → metric


def test_sets(results: Results) -> list[str]:
    """Return the names of the test sets, in the configuration's order."""
    return list(results.config["test_sets"])


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


def searches(results: Results, student: str) -> list[Variant]:
    """Return the variants of a student's unpruned model that use another search than the greedy one."""
    return [v for v in variants(results) if v.student == student and v.is_search]


def row_of(results: Results, variant: Variant, paper: str) -> str | None:
    """Return the row of the paper's table 1 that a variant's student corresponds to, None if there is none."""
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
    """Return one score with its interval, None if it was not measured."""
    wanted = (str(variant), test_set, metric)
    rows = (m for m in results.qualities if (m.variant, m.test_set, m.metric) == wanted)
    return next(rows, None)


def column(results: Results, variant: Variant, paper: str, column: str) -> float | None:
    """Return BLEU or COMET for a paper's column: the mean over the test sets that `report.columns` names.

    COMET uses the test sets of the BLEU column.
    """
    metric, test_set = column.split("_", 1)
    names = results.config["report"]["columns"].get(paper, {}).get(f"bleu_{test_set}")
    if not names:
        return None
    return _mean([measurement(results, variant, name, METRICS[metric]) for name in names])


def mean(results: Results, variant: Variant) -> float | None:
    """Return the mean BLEU over all test sets, None if one was not measured."""
    return _mean([measurement(results, variant, name, "BLEU") for name in test_sets(results)])


def _mean(rows: list[Measurement | None]) -> float | None:
    return None if None in rows else sum(row.score for row in rows) / len(rows)


def engines(results: Results, variant: Variant) -> list[str]:
    """Return the engines that timed a variant.

    The runtime without a shortlist, with which the variant is scored, comes first; PyTorch comes last.
    """
    rows = [row for row in results.speeds if row.variant == str(variant)]
    rows.sort(key=lambda row: (not row.by_runtime, "shortlist" in row.engine))
    return list(dict.fromkeys(row.engine for row in rows))


def speed(
    results: Results, variant: Variant, all_cores: bool = False, engine: str | None = None
) -> Speed | None:
    """Return a variant's speed on one core, or on all cores in the fastest division into processes.

    engine: one of `engines`, by default the first, which is the runtime if it can run the variant.
    """
    chosen = engine or next(iter(engines(results, variant)), None)
    cores = max((row.cores for row in results.speeds), default=1) if all_cores else 1
    rows = [
        row
        for row in results.speeds
        if (row.variant, row.engine, row.cores) == (str(variant), chosen, cores)
    ]
    return max(rows, key=lambda row: row.words_per_second, default=None)
