"""One page of Markdown with all results of an experiment, generated from its measurements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weebill.evaluation.measurement import Variant
from weebill.report.overview import heads_table, variants_table
from weebill.report.paper_tables import TABLES, build
from weebill.report.quantities import encoder_totals
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.speeds import latency_table, speed_table
from weebill.report.table import Table, fixed, signed

FIGURES = {  # file -> heading
    "front": "Quality, speed and size",
    "sizes": "Sizes",
    "heads": "Encoder heads left",
}


def experiment_page(
    results: Results,
    run_time: Table,
    config: Mapping[str, Any],
    figures: Mapping[str, str],
    further: Sequence[Table] = (),
) -> str:
    """The page.

    config: the complete configuration; figures: heading → link of a picture; further: tables that not every
    experiment has.
    """
    sections = [
        _introduction(config),
        section("In short", "\n".join(f"- {line}" for line in in_short(results))),
        *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
    ]
    tables = [variants_table(results), speed_table(results), latency_table(results)]
    tables += [*further, heads_table(results)]
    for definition in TABLES:
        tables.append(build(definition, results))
        if definition.speed:
            tables.append(build(definition, results, speed=True))
    for table in [*tables, run_time]:
        sections.append(section(table.title, to_markdown(table)))
    sections.append(section("What it ran on", environment(results)))
    return "\n".join(sections)


def in_short(results: Results) -> list[str]:
    """The experiment's findings as sentences, computed from the measurements."""
    lines = []
    teacher, students = results.teacher, results.students()
    if teacher:
        lines.append(f"Teacher ({teacher.recipe}): {_scores(results, teacher)}.")
    unpruned = [v for v in students if v == v.baseline and results.mean(v) is not None]
    best = max(unpruned, key=results.mean, default=None)
    if best:
        for variant in [best, *results.searches(best.student)]:
            search = variant.recipe if variant.is_search else "greedy"
            lines.append(
                f"Best student, `{best.student}`, {search}: {_scores(results, variant, teacher)}"
                f"{_time(results, variant)}."
            )
    for variant in students:
        if variant != variant.baseline and results.mean(variant) is not None:
            text = f"`{variant}`: {_scores(results, variant, variant.baseline)}"
            lines.append(text + _heads(results, variant) + _bytes(results, variant) + ".")
    return lines


def _scores(results: Results, variant: Variant, baseline: Variant | None = None) -> str:
    """ "BLEU 36.10 (−0.40) on first, …" with differences to the baseline as shown in the tables."""
    parts = []
    for name in results.test_sets:
        row = results.measurement(variant, name, "BLEU")
        base = results.measurement(baseline, name, "BLEU") if baseline else None
        if row:
            change = f" ({signed(round(row.score, 2) - round(base.score, 2))})" if base else ""
            parts.append(f"{fixed(row.score, 2)}{change.replace('-', '−')} on {name}")
    return "BLEU " + ", ".join(parts)


def _time(results: Results, student: Variant) -> str:
    one = results.speed(student)
    if one is None:
        return ""
    parts = []
    for variant in results.variants:
        other = results.speed(variant)
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
    """Software, hardware and models behind the results."""
    versions = sorted({tuple(sorted(m.versions.items())) for m in results.measurements})
    lines = ["Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions]
    lines += [f"Speeds: {hardware}." for hardware in sorted({s.hardware for s in results.speeds})]
    models = {m.variant: m.model_sha256 for m in results.measurements}
    lines += ["", "SHA-256 of the parameters of each model:", ""]
    lines += [f"- `{variant}`: `{digest}`" for variant, digest in models.items()]
    return "\n".join(lines)


def section(heading: str, text: str) -> str:
    """A part of the page under its heading."""
    return f"## {heading}\n\n{text.rstrip()}\n"


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names)
