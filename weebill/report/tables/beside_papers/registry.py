"""Registry of the papers' tables: for each kind of experiment the modules that declare its TABLES."""

from pkgutil import resolve_name

from weebill.report.tables.beside_papers.comparison import PaperTable

MODULES = {
    "translation": (
        "weebill.report.tables.beside_papers.wngt20:TABLES",
        "weebill.report.tables.beside_papers.wmt21:TABLES",
        "weebill.report.tables.beside_papers.wngt20_table4:TABLES",
        "weebill.report.tables.beside_papers.wmt21_table4:TABLES",
    ),
    "metric": ("weebill.report.tables.beside_papers.cometinho:TABLES",),
    "generation": ("weebill.report.tables.beside_papers.textgen:TABLES",),
}


def paper_tables(kind: str) -> list[PaperTable]:
    """Return the papers' tables of a kind of experiment, in the order of the papers."""
    return [table for name in MODULES[kind] for table in resolve_name(name)]
