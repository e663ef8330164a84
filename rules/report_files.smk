"""The files of tables and figures, by format."""

from weebill.report.rendering import FORMATS as TABLE_FORMATS

FIGURE_FORMATS = ["png", "svg", "html"]


def in_report(file, category, title, caption, subcategory=None):
    """A file that the report shows, as a table or figure.

    It has one label only: of two, the report's page makes a switch, and breaks where a result
    lacks one of the switch's sides.
    """
    return report(
        file,
        category=category,
        subcategory=subcategory,
        caption=str(REPOSITORY / "report" / f"{caption}.rst"),
        labels={"result": title},
    )


def table_files(folder, name, category, title, caption, subcategory=None, shown=True):
    """A table's files by format; its page is in the report, where it is `shown`."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in TABLE_FORMATS}
    page = f"{name}_html"
    if shown:
        files[page] = in_report(files[page], category, title, caption, subcategory)
    return files


def figure_files(folder, name, category, title):
    """A figure's files by format; its interactive page is shown in the report."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in FIGURE_FORMATS}
    page = f"{name}_html"
    files[page] = in_report(files[page], category, f"{title} (figure)", name)
    return files


def several_table_files(tables):
    """The files of tables {file: (section, title, caption)}."""
    files = {}
    for name, told in tables.items():
        files |= table_files(TABLES, name, *told)
    return files


def several_figure_files(figures):
    """The files of figures {file: title}, shown in the third section."""
    files = {}
    for name, title in figures.items():
        files |= figure_files(FIGURES, name, "3 Figures", title)
    return files


def page_targets(tables, figures):
    """All that is made of the measurements by these, the page and the report last."""
    return [
        *expand(TABLES / "{name}.{form}", name=tables, form=TABLE_FORMATS),
        *expand(FIGURES / "{name}.{form}", name=figures, form=FIGURE_FORMATS),
        RESULTS / "summary.md",
        REPORT,
    ]


def reported():
    """The files that the report needs: all the others of a complete run."""
    return [target for target in final_targets() if target != REPORT]
