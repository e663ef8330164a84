"""Registry of the papers' tables: for each kind of experiment the modules that declare its TABLES."""

from importlib import import_module

from weebill.report.tables.beside_papers.comparison import PaperTable

MODULES = {
    "translation": ("wngt20", "wmt21", "wngt20_table4", "wmt21_table4"),
    "metric": ("cometinho",),
    "generation": ("textgen",),
}


def paper_tables(kind: str) -> list[PaperTable]:
    """Return the papers' tables of a kind of experiment, in the order of the papers."""
    modules = [
        import_module(f"weebill.report.tables.beside_papers.{name}") for name in MODULES[kind]
    ]
    return [table for module in modules for table in module.TABLES]
