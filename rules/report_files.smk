"""Files of tables and figures, by format."""

from weebill.report.rendering import FORMATS as TABLE_FORMATS
from weebill.report.stages import stages_of
from weebill.workflow.code_version import script_of

FIGURE_FORMATS = ["png", "svg", "html", "json"]
# (file, section, title, name of the caption) of each table and figure that a report may show
EXHIBITS = []


def in_report(file, category, title, caption, subcategory=None, shown_file=None):
    """Return a file that both reports show as a table or figure; ours shows `shown_file` if it is given.

    In Snakemake's report, the file has only one label.  With two labels, the report's page makes a switch, which
    fails if a result lacks one of its sides.
    """
    EXHIBITS.append((str(shown_file or file), category, title, caption))
    title += " (figure)" * (shown_file is not None)
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
    drawn = files[f"{name}_json"]
    files[page] = in_report(files[page], category, title, name, shown_file=drawn)
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


def drawn_on(page):
    """Return the catalogue's entries for the figures that a page shows."""
    figures = [item for items in REPORT_FIGURES.values() for item in items]
    return [item for item in figures if item.file in page.pictures]


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
        *(CARDS / f"{name}.md" for name in CARD_FOLDERS),
        REPORT,
        PROVENANCE,
    ]


def reported():
    """Return the files that Snakemake's report needs: all other files of a complete run."""
    return [target for target in final_targets() if target != PROVENANCE]


def exhibits():
    """Return the exhibits of rules that a complete run needs; others are made only if requested by name."""
    targets = {*map(str, final_targets())}
    made = set()
    for one in workflow.rules:
        files = {*map(str, one.output)}
        made |= files if files & targets else set()
    return [exhibit for exhibit in EXHIBITS if exhibit[0] in made]


def benchmark_name(one):
    """Return the first part of a rule's benchmarks below BENCHMARKS, None if it has no benchmark there."""
    path = Path(str(one.benchmark or ""))
    if not path.is_relative_to(BENCHMARKS):
        return None
    return path.relative_to(BENCHMARKS).parts[0].removesuffix(".tsv").partition("{")[0]


def rules_file(one):
    """Return the name of a rule's file without its suffix; the file may be in a remote Git repository."""
    file = one.snakefile
    name = file if isinstance(file, (str, Path)) else file.get_filename()
    return Path(name).stem


def scripts_of_rules():
    """Return the script and the chosen modules of each rule that runs a script, by the rule's name."""
    found = {}
    for one in workflow.rules:
        script, _ = script_of(one, REPOSITORY)
        if script:
            uses = one.params.get("uses", [])
            found[one.name] = [script, *(PRUNING_METHODS if callable(uses) else uses)]
    return found


def measuring_code():
    """Return the same of the rules that measure, by the name of the rule's benchmark."""
    scripts = scripts_of_rules()
    return {
        benchmark_name(one): scripts[one.name]
        for one in workflow.rules
        if one.name in scripts and benchmark_name(one) and rules_file(one) != "report"
    }


def stages():
    """Return the stages of the experiment with the names of their rules' benchmarks, if there are any."""
    by_file = {}
    for one in workflow.rules:
        if name := benchmark_name(one):
            by_file.setdefault(rules_file(one), {})[name] = None
    return stages_of(config["kind"], by_file)
