"""Common parts of the pages of all kinds of experiments: the results come first, details are folded."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weebill.report.front.front import rehearsed
from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.table import Table

LINES = 8  # most lines of a summary
Part = Table | tuple[str, str]  # a table, or a heading with its Markdown


def results_page(
    results: Results,
    introduction: str,
    summary: Sequence[str],
    ahead: Sequence[Part],
    folded: Iterable[Part],
    models: Mapping[str, str],
    times: str = "Times",
    digests: str = "SHA-256 of each model's file",
) -> str:
    """Return a Markdown page: the summary, the parts `ahead`, then the details, folded.

    summary: sentences; if there are more than LINES, the rest is folded.  models: name → SHA-256.
    """
    versions = sorted({tuple(sorted(one.versions.items())) for one in results.qualities})
    environment = [
        *("Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions),
        *(f"{times}: {one}." for one in sorted({one.hardware for one in results.speeds})),
        *("", f"{digests}:", ""),
        *(f"- `{name}`: `{digest}`" for name, digest in models.items()),
    ]
    more = [("More findings", bullets(summary[LINES:]))] if len(summary) > LINES else []
    details = [*more, *folded, ("What it ran on", "\n".join(environment))]
    introduction = "\n\n".join([introduction, *rehearsed(results.config)])
    return whole_page(introduction, bullets(summary[:LINES]), ahead, details)


def whole_page(
    introduction: str, summary: str, ahead: Iterable[Part], folded: Iterable[Part]
) -> str:
    """Return a Markdown page from its parts; a click on its heading opens a folded part, if it is not empty."""
    sections = [("In short", summary), *map(headed, ahead)]
    texts = [f"## {heading}\n\n{text.rstrip()}\n" for heading, text in sections]
    hidden = [
        f'<details markdown="1">\n<summary>{heading}</summary>\n\n{text.rstrip()}\n\n</details>\n'
        for heading, text in map(headed, folded)
        if text
    ]
    return "\n".join([f"{introduction}\n", *texts, "## Details\n", *hidden])


def headed(part: Part) -> tuple[str, str]:
    """Return a part's heading and its Markdown."""
    return (part.title, to_markdown(part)) if isinstance(part, Table) else part


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def introduction(config: Mapping[str, Any], subject: str) -> str:
    """Return a page's title and first sentences."""
    return (
        f"# Results of the experiment {config['experiment']}\n\n{subject}, seed {config['seed']}. "
        f"This page was written by the workflow from its measurements (rule `pages`)."
    )


def pictures(figures: Mapping[str, str]) -> tuple[list[Part], list[Part]]:
    """Return the first figure, if any, and the others as lists of parts; figures: heading → picture in Markdown."""
    parts = list(figures.items())
    return parts[:1], parts[1:]
