"""Pages of the papers: what they claim, and their tables as printed."""

import csv
from html import escape
from importlib import resources

import yaml

from docs.site.contents import REPOSITORY
from weebill.report import papers
from weebill.report.tables.claims import claims_of


def claims_page() -> str:
    """Return a table of the claims of each paper, with the bounds within which each counts as reproduced."""
    head = "| where | claim | holds if | measured as |\n|---|---|---|---|\n"
    effects, cited = _effects(), _cited()
    sections = []
    for name, paper in papers.PAPERS.items():
        rows = "".join(
            f"| {claim.where} | {claim.text} | {claim.bounds} | `{effects[name, claim.text]}` |\n"
            for claim in claims_of(name)
        )
        sections.append(
            f"## {paper.name}\n\n{cited.get(paper.name.replace(' 20', ''), '')}\n\n{head}{rows}"
        )
    return "\n".join(sections)


def _cited() -> dict[str, str]:
    """Return a link with the title of each paper, by its short name in CITATION.cff."""
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    found = {}
    for one in citation["references"]:
        address = one.get("url") or one["repository-code"]
        found[one["notes"].split()[0]] = f"[{one['title']}]({address})"
    return found


def _effects() -> dict[tuple[str, str], str]:
    return {
        (row["paper"], row["claim"]): row["effect"]
        for row in papers.load("claims").to_dict("records")
    }


def tables_page() -> str:
    """Return the papers' tables as printed, in the files' order."""
    tables = []
    for name in papers.names():
        if name == "claims":
            continue
        file = resources.files(papers) / f"{name}.csv"
        header, *rows = csv.reader(file.read_text("utf-8").splitlines())
        lines = [header, ["---"] * len(header), *rows]
        table = "".join(
            f"| {' | '.join(escape(cell).replace('|', '&#124;') for cell in line)} |\n"
            for line in lines
        )
        tables.append(f"## {name}\n\n{table}")
    return "\n".join(tables)
