"""Files of tables and figures, by format."""

from weebill.report.rendering import FORMATS as TABLE_FORMATS

FIGURE_FORMATS = ["png", "svg", "html"]


def in_report(file, category, title, caption, subcategory=None):
    """Return a file that the report shows as a table or figure.

    It has one label only.  With two labels the report's page makes a switch, which fails if a result lacks
    one of its sides.
    """
    return report(
        file,
        category=category,
        subcategory=subcategory,
        caption=str(REPOSITORY / "report" / f"{caption}.rst"),
        labels={"result": title},
    )


def table_files(folder, name, category, title, caption, subcategory=None, shown=True):
    """Return a table's files by format; the report contains its HTML page if `shown` is True."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in TABLE_FORMATS}
    page = f"{name}_html"
    if shown:
        files[page] = in_report(files[page], category, title, caption, subcategory)
    return files


def figure_files(folder, name, category, title):
    """Return a figure's files by format; the report contains its interactive page."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in FIGURE_FORMATS}
    page = f"{name}_html"
    files[page] = in_report(files[page], category, f"{title} (figure)", name)
    return files


def shown_tables(items):
    """Return the files of some tables of the catalogue; all tables of one rule are in one folder."""
    files = {}
    for item in items:
        place = TABLES / item.file
        told = (item.section, item.title, item.caption, item.paper)
        files |= table_files(place.parent, place.name, *told)
    return files


def shown_figures(items):
    """Return the files of some figures of the catalogue."""
    files = {}
    for item in items:
        place = FIGURES / item.file
        files |= figure_files(place.parent, place.name, item.section, item.title)
    return files


def measured_files(entries):
    """Return the files that tables, figures or pages read, by the names that `Results.read` expects."""
    return {
        name: REPORT_FILES[name] for name in catalogue.inputs(entries, REPORT_FIELDS)
    }


def pictures(page):
    """Return the files of the figures that a page shows."""
    return [FIGURES / f"{file}.svg" for file in page.pictures]


def report_targets():
    """Return all files made from the measurements, the report last."""
    tables, figures = (
        [item.file for items in rules_of.values() for item in items]
        for rules_of in (REPORT_TABLES, REPORT_FIGURES)
    )
    return [
        *expand(TABLES / "{name}.{form}", name=tables, form=TABLE_FORMATS),
        *expand(FIGURES / "{name}.{form}", name=figures, form=FIGURE_FORMATS),
        *(RESULTS / f"{page.file}.md" for page in REPORT_PAGES),
        REPORT,
    ]


def reported():
    """Return the files that the report needs: all other files of a complete run."""
    return [target for target in final_targets() if target != REPORT]
