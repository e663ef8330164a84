"""Markdown pages of a translation experiment, generated from its measurements: all results, and pruning."""

from collections.abc import Iterable, Mapping, Sequence

from weebill.evaluation.measurement import Variant
from weebill.experiment.student_names import repeats
from weebill.report import noise
from weebill.report.costs import Job
from weebill.report.front import translation as front
from weebill.report.lookups import translation as lookup
from weebill.report.pages.page import Part, bullets, pictures, results_page
from weebill.report.results import Results
from weebill.report.table import fixed, shortened, signed
from weebill.report.tables import overview, pruning, speeds, steps
from weebill.report.tables.beside_papers.comparison import paper_tables
from weebill.report.tables.claims.translation import wmt21_claims, wngt20_claims
from weebill.report.tables.original_languages import original_languages_table
from weebill.report.tables.run_time import run_time_table

OF_PRUNING = ("wngt20_table2", "wmt21_table2")


def experiment_page(results: Results, jobs: Sequence[Job], figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; results need the complete configuration.  figures: heading → picture."""
    on_gpu, others = [], []
    for table in paper_tables("translation"):
        (on_gpu if "gpu_speeds" in table.needs else others).append(table.build)
    builders = [steps.steps_table] if results.steps else []
    builders += [overview.variants_table, speeds.speed_table, speeds.latency_table]
    builders += [original_languages_table] if results.origins else []
    builders += [overview.shortlist_table] if results.shortlists else []
    builders += [speeds.gpu_table, *on_gpu] if results.gpu_speeds else []
    builders += [speeds.benchmark_table] if results.engines else []
    builders += [pruning.worth_table] if results.comparisons else []
    builders += [pruning.seeds_table] if results.seeds else []
    builders += [overview.heads_table, *others, wngt20_claims, wmt21_claims]
    students = _students(results)
    ahead = front.front(results, jobs, [])
    first, rest = pictures(figures)
    findings = [*in_short(results), *pruning.seeds_findings(results)]
    folded = [("Every variant in a sentence", bullets(findings)), *rest]
    folded += [*(build(results) for build in builders), run_time_table(jobs)]
    summary = [*ahead.verdict, *not_shown(results), *pruning.against_opponents(results)]
    summary += noise.summary(results.speeds, "speeds")
    return _page(results, "Results", students, summary, [ahead.table, *first], folded)


def pruning_page(results: Results, jobs: Sequence[Job], figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; results need the complete configuration.  figures: heading → picture."""
    config = results.config
    builders = [*([pruning.seeds_table] if results.seeds else []), pruning.pruned_speed_table]
    papers = [table for table in paper_tables("translation") if table.name in OF_PRUNING]
    students = (
        f"{_students(results)}, each of "
        f"{config['training']['updates']:,} updates; pruned ones count from the start of the unpruned student"
    )
    findings = [*pruning.findings(results), *pruning.seeds_findings(results)]
    first, rest = pictures(figures)
    folded = [
        ("Every pruned student in a sentence", bullets(findings)),
        *(build(results) for build in builders),
        *rest,
        *(table.build(results) for table in papers),
        pruning.recipes_table(config["pruning"]),
        run_time_table(jobs),
    ]
    ahead = [pruning.worth_table(results), *first]
    summary = [*pruning.summary(results), *noise.summary(results.speeds, "speeds")]
    return _page(results, "Pruning: results", students, summary, ahead, folded)


def _students(results: Results) -> str:
    """Return the names of the students with the experiment's seed; others repeat them."""
    return ", ".join(name for name in results.config["students"] if not repeats(name))


def not_shown(results: Results) -> list[str]:
    """Return a sentence on the differences between students and their variants: significant ones and others."""
    found = [
        one for one in results.steps if one.baseline == str(Variant.parse(one.variant).baseline)
    ]
    if not found:
        return []
    worse = sum(one.difference_high < 0 for one in found)
    better = sum(one.difference_low > 0 for one in found)
    unclear = len(found) - worse - better
    return [
        f"Of {len(found)} variants, {worse} are shown to be worse than their unpruned float32 student and "
        f"{better} to be better (the 95 % interval of the difference does not contain 0); for {unclear} neither is "
        "shown."
    ]


def _page(
    results: Results,
    title: str,
    students: str,
    summary: Sequence[str],
    ahead: Sequence[Part],
    folded: Iterable[Part],
) -> str:
    config, languages = results.config, results.config["languages"]
    introduction = (
        f"# {title} of the experiment {config['experiment']}\n\n"
        f"{languages['source']} to {languages['target']}, seed {config['seed']}. Corpora: "
        f"{', '.join(config['corpora'])}; test sets: {', '.join(config['test_sets'])}; students: {students}.\n\n"
        f"This page was written by the workflow from its measurements (rule `pages`). Data, languages and "
        "machine differ from the papers', so compare the differences in brackets, not the numbers."
    )
    models = {one.variant: one.model_sha256 for one in results.qualities}
    digests = "SHA-256 of the parameters of each model"
    return results_page(results, introduction, summary, ahead, folded, models, "Speeds", digests)


def in_short(results: Results) -> list[str]:
    """Return the experiment's findings as sentences, computed from the measurements."""
    lines = []
    teacher, students = lookup.teacher(results), lookup.students(results)
    if teacher:
        lines.append(f"Teacher ({teacher.recipe}): {_scores(results, teacher)}.")
    unpruned = [v for v in students if v == v.baseline and lookup.mean(results, v) is not None]
    best = max(unpruned, key=lambda v: lookup.mean(results, v), default=None)
    if best:
        for variant in [best, *lookup.searches(results, best.student)]:
            search = variant.recipe if variant.is_search else "greedy"
            lines.append(
                f"Best student, `{best.student}`, {search}: {_scores(results, variant, teacher)}"
                f"{_time(results, variant)}."
            )
    for variant in students:
        if variant != variant.baseline and lookup.mean(results, variant) is not None:
            text = f"`{variant}`: {_scores(results, variant, variant.baseline)}"
            lines.append(text + _heads(results, variant) + _bytes(results, variant) + ".")
    return lines


def _scores(results: Results, variant: Variant, baseline: Variant | None = None) -> str:
    """Return text like "BLEU 36.10 (−0.40) on first, …", with differences to the baseline as in the tables."""
    parts = []
    for name in results.config["test_sets"]:
        row = lookup.measurement(results, variant, name)
        base = lookup.measurement(results, baseline, name) if baseline else None
        if row:
            change = f" ({signed(round(row.score, 2) - round(base.score, 2))})" if base else ""
            parts.append(f"{fixed(row.score, 2)}{change.replace('-', '−')} on {name}")
    return "BLEU " + ", ".join(parts)


def _time(results: Results, student: Variant) -> str:
    one = lookup.speed(results, student)
    parts = [
        f"{shortened(100 * other.words_per_second / one.words_per_second, 2)}% of the teacher's by {variant.recipe}"
        for variant in lookup.variants(results)
        if one and variant.student == lookup.TEACHER and (other := lookup.speed(results, variant))
    ]
    told = f"; its translation time on one core, by the {one.engine}, is " if parts else ""
    return told + " and ".join(parts)


def _heads(results: Results, variant: Variant) -> str:
    left, full = (lookup.encoder_heads(results, one) for one in (variant, variant.baseline))
    if left is None or not full or left == full:
        return ""
    return f", {full - left} of {full} encoder heads removed ({(full - left) / full:.0%})"


def _bytes(results: Results, variant: Variant) -> str:
    size, base = results.size(variant), results.size(variant.baseline)
    return f", {base.parameter_bytes / size.parameter_bytes:.1f}× smaller on disk" if base else ""
