"""Markdown page with all results of an experiment, generated from its measurements."""

from collections.abc import Mapping
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.report.lookups import translation as lookup
from weebill.report.pages.page import listed, section
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.table import Table, fixed, signed
from weebill.report.tables.beside_papers.quantities import encoder_totals
from weebill.report.tables.beside_papers.registry import paper_tables
from weebill.report.tables.gpu import gpu_table
from weebill.report.tables.overview import heads_table, variants_table
from weebill.report.tables.shortlist import shortlist_table
from weebill.report.tables.speeds import benchmark_table, latency_table, speed_table


def experiment_page(results: Results, run_time: Table, figures: Mapping[str, str]) -> str:
    """Write the page as Markdown; results need the complete configuration.  figures: heading → link of a picture."""
    sections = [
        _introduction(results.config),
        section("In short", "\n".join(f"- {line}" for line in in_short(results))),
        *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
    ]
    on_gpu, others = [], []
    for table in paper_tables("translation"):
        (on_gpu if "gpu_speeds" in table.needs else others).append(table.build)
    builders = [variants_table, speed_table, latency_table]
    builders += [shortlist_table] if results.shortlists else []
    builders += [gpu_table, *on_gpu] if results.gpu_speeds else []
    builders += [benchmark_table] if results.engines else []
    for table in [*(build(results) for build in (*builders, heads_table, *others)), run_time]:
        sections.append(section(table.title, to_markdown(table)))
    sections.append(section("What it ran on", environment(results)))
    return "\n".join(sections)


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
    for name in lookup.test_sets(results):
        row = lookup.measurement(results, variant, name, "BLEU")
        base = lookup.measurement(results, baseline, name, "BLEU") if baseline else None
        if row:
            change = f" ({signed(round(row.score, 2) - round(base.score, 2))})" if base else ""
            parts.append(f"{fixed(row.score, 2)}{change.replace('-', '−')} on {name}")
    return "BLEU " + ", ".join(parts)


def _time(results: Results, student: Variant) -> str:
    one = lookup.speed(results, student)
    if one is None:
        return ""
    parts = []
    for variant in lookup.variants(results):
        other = lookup.speed(results, variant)
        if variant.student == "teacher" and other:
            parts.append(
                f"{100 * other.words_per_second / one.words_per_second:.2g}% of the teacher's by {variant.recipe}"
            )
    if not parts:
        return ""
    return f"; its translation time on one core, by the {one.engine}, is {' and '.join(parts)}"


def _heads(results: Results, variant: Variant) -> str:
    left, full = encoder_totals(results, variant), encoder_totals(results, variant.baseline)
    if not left or not full or left == full:
        return ""
    return f", {full - left} of {full} encoder heads removed ({(full - left) / full:.0%})"


def _bytes(results: Results, variant: Variant) -> str:
    size, base = results.size(variant), results.size(variant.baseline)
    if not base:
        return ""
    return f", {base.parameter_bytes / size.parameter_bytes:.1f}× smaller on disk"


def _introduction(config: Mapping[str, Any]) -> str:
    languages = config["languages"]
    return (
        f"# Results of the experiment {config['experiment']}\n\n"
        f"{languages['source']} to {languages['target']}, seed {config['seed']}. Corpora: "
        f"{listed(config['corpora'])}; test sets: {listed(config['test_sets'])}; students: "
        f"{listed(config['students'])}.\n\n"
        "This page was written by the workflow from its measurements (rule `summary`). Data, languages "
        "and machine are not the papers', so compare the differences in brackets, not the numbers.\n"
    )


def environment(results: Results) -> str:
    """Describe the software, hardware and models behind the results."""
    versions = sorted({tuple(sorted(m.versions.items())) for m in results.qualities})
    lines = ["Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions]
    lines += [f"Speeds: {hardware}." for hardware in sorted({s.hardware for s in results.speeds})]
    models = {m.variant: m.model_sha256 for m in results.qualities}
    lines += ["", "SHA-256 of the parameters of each model:", ""]
    lines += [f"- `{variant}`: `{digest}`" for variant, digest in models.items()]
    return "\n".join(lines)
