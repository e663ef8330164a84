"""Common parts of the pages of all kinds of experiments."""

from collections.abc import Iterable, Mapping
from typing import Any

from weebill.report.rendering import to_markdown
from weebill.report.results import Results
from weebill.report.table import Table


def results_page(
    results: Results,
    introduction: str,
    findings: Iterable[str],
    parts: Iterable[Table | Mapping[str, str]],
    models: Mapping[str, str],
    times: str = "Times",
    digests: str = "SHA-256 of each model's file",
) -> str:
    """Return a page of Markdown.

    findings: sentences.  parts: tables, and figures by heading → link of a picture.  models: name → SHA-256.
    """
    versions = sorted({tuple(sorted(one.versions.items())) for one in results.qualities})
    environment = [
        *("Software: " + ", ".join(f"{n} {v}" for n, v in row) + "." for row in versions),
        *(f"{times}: {one}." for one in sorted({one.hardware for one in results.speeds})),
        *("", f"{digests}:", ""),
        *(f"- `{name}`: `{digest}`" for name, digest in models.items()),
    ]
    sections = [("In short", "\n".join(f"- {line}" for line in findings))]
    for part in parts:
        if isinstance(part, Table):
            sections.append((part.title, to_markdown(part)))
        else:
            sections += [(heading, f"![{heading}]({link})") for heading, link in part.items()]
    sections.append(("What it ran on", "\n".join(environment)))
    texts = [f"## {heading}\n\n{text.rstrip()}\n" for heading, text in sections]
    return "\n".join([f"{introduction}\n", *texts])


def introduction(config: Mapping[str, Any], subject: str) -> str:
    """Return a page's title and first sentences."""
    return (
        f"# Results of the experiment {config['experiment']}\n\n{subject}, seed {config['seed']}. "
        f"This page was written by the workflow from its measurements (rule `pages`)."
    )
