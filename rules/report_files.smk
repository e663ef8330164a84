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


def shown_tables(items):
    """The files of tables of the catalogue; those of one rule lie in one folder."""
    files = {}
    for item in items:
        place = TABLES / item.file
        told = (item.section, item.title, item.caption, item.paper)
        files |= table_files(place.parent, place.name, *told)
    return files


def shown_figures(items):
    """The files of figures of the catalogue."""
    files = {}
    for item in items:
        place = FIGURES / item.file
        files |= figure_files(place.parent, place.name, item.section, item.title)
    return files


def measured_files(entries):
    """The files of what tables, figures or pages show, by the names that `Results.read` expects."""
    return {
        name: REPORT_FILES[name] for name in catalogue.inputs(entries, REPORT_FIELDS)
    }


def pictures(page):
    """The figures that a page shows."""
    return [FIGURES / f"{file}.svg" for file in page.pictures]


def report_targets():
    """All that is made of the measurements, the report last."""
    tables, figures = (
        [item.file for items in rules_of.values() for item in items]
        for rules_of in (REPORT_TABLES, REPORT_FIGURES)
    )
    return [
        *expand(TABLES / "{name}.{form}", name=tables, form=TABLE_FORMATS),
        *expand(FIGURES / "{name}.{form}", name=figures, form=FIGURE_FORMATS),
        *(RESULTS / f"{page.file}.md" for page in REPORT_PAGES.values()),
        REPORT,
    ]


def reported():
    """The files that the report needs: all the others of a complete run."""
    return [target for target in final_targets() if target != REPORT]
