"""Common parts of the pages of metric and generation experiments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weebill.report.rendering import to_markdown
from weebill.report.table import Table


def results_page(
    config: Mapping[str, Any],
    subject: str,
    rule: str,
    findings: Iterable[str],
    tables: Iterable[Table],
    figures: Mapping[str, str],
    environment: Iterable[str],
) -> str:
    """Return a page of Markdown.

    rule: the one that writes the page.  findings: sentences.  figures: heading → link of a picture.
    """
    return "\n".join(
        [
            f"# Results of the experiment {config['experiment']}\n\n"
            f"{subject}, seed {config['seed']}. This page was written by the workflow from its "
            f"measurements (rule `{rule}`).\n",
            section("In short", "\n".join(f"- {line}" for line in findings)),
            *(section(table.title, to_markdown(table)) for table in tables),
            *(section(heading, f"![{heading}]({link})") for heading, link in figures.items()),
            section("What it ran on", "\n".join(environment)),
        ]
    )


def environment_lines(
    versions: Sequence[Mapping[str, str]], hardware: Sequence[str], models: Mapping[str, str]
) -> list[str]:
    """Return lines with software and hardware, each once, and the SHA-256 of each model's file."""
    rows = sorted({tuple(sorted(one.items())) for one in versions})
    lines = ["Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in rows]
    lines += [f"Times: {one}." for one in sorted(set(hardware))]
    lines += ["", "SHA-256 of each model's file:", ""]
    return [*lines, *(f"- `{name}`: `{digest}`" for name, digest in models.items())]


def section(heading: str, text: str) -> str:
    """Return a part of the page under its heading."""
    return f"## {heading}\n\n{text.rstrip()}\n"


def listed(names: Iterable[str]) -> str:
    """Join names for use in a sentence."""
    return ", ".join(names)
