"""The files of a translation experiment's tables and figures."""

from weebill.report.paper_tables import TABLES as PAPER_TABLES
from weebill.report.papers import PAPERS

SPEED_FIGURES = FIGURES / "speed"
PRUNING_FIGURES = {  # file: title, where something is pruned
    "quality_by_heads": "Quality by heads removed",
    "quality_by_neurons": "Quality by neurons removed",
    "head_maps": "Head maps",
}
PRUNING_SPEED_FIGURES = {"quality_by_speed": "Quality by speed"}
STUDENTS = list(dict.fromkeys(student for student, _, _ in VARIANTS))


def report_config():
    """What the tables need of the configuration."""
    return {
        key: config[key] for key in ("experiment", "test_sets", "pruning", "report")
    }


def paper_table_files(folder, speed):
    """The files of the papers' tables, qualities or speeds."""
    files = {}
    for table in PAPER_TABLES:
        if table.speed or not speed:
            title = f"Table {table.number}" + (": speed" if speed else "")
            files |= table_files(
                folder,
                table.name,
                "7 Papers",
                title,
                "paper_speed_table" if speed else "paper_table",
                PAPERS[table.paper][1],
            )
    return files


def further_speeds():
    """What `table_files` is told of tables that not every experiment has, by name: of engines, of a GPU."""
    tables = {}
    if benchmarked():
        tables["engines"] = (
            "6 Evaluation",
            "The runtime beside CTranslate2",
            "engines",
        )
    if timed_on_gpu():
        tables["gpu"] = ("6 Evaluation", "All students: GPU speed", "gpu")
        for paper in ("wngt20", "wmt21"):
            caption = "gpu_paper_table"
            tables[f"{paper}_table4"] = (
                "7 Papers",
                "Table 4",
                caption,
                PAPERS[paper][1],
            )
    return tables


def further_speed_table_files():
    """The files of those tables."""
    files = {}
    for name, told in further_speeds().items():
        files |= table_files(SPEED_TABLES, name, *told)
    return files


def pruning_table_files(folder, title, caption):
    """The files of a table of what pruning is worth; none where nothing is pruned."""
    if not COMPARED:
        return {}
    return table_files(folder, "pruning", "4 Pruning", title, caption)


def pruning_figure_files(folder, figures):
    """The files of figures of what pruning is worth; none where nothing is pruned."""
    files = {}
    for name, title in figures.items() if COMPARED else ():
        files |= figure_files(folder, name, "4 Pruning", title)
    return files


def pruning_pictures():
    """The pictures of the page on pruning."""
    return [
        *(FIGURES / f"{name}.svg" for name in PRUNING_FIGURES),
        *(SPEED_FIGURES / f"{name}.svg" for name in PRUNING_SPEED_FIGURES),
    ]


def compared_scales_quality():
    """Quality files of the float32 models whose activation scales are compared, where measured, and of the compared."""
    names = []
    for (student, recipe), variants in COMPARED_SCALES.items():
        names += [(student, recipe, "float32"), *variants]
    files = [EVALUATION / "quality" / f"{'/'.join(name)}.json" for name in names]
    return [file for file in files if file in measurements("quality")]


def report_targets():
    """All that is made of the measurements, the report last."""
    tables = ["variants", "heads", *(table.name for table in PAPER_TABLES)]
    if "shortlist" in config:
        tables.append("shortlist")
    if OTHER_TEXTS:
        tables.append("training_texts")
    if SEEDS_COMPARED:
        tables.append("seeds")
    if COMPARED_SCALES:
        tables.append("activation_scales")
    speeds = ["variants", "latency", *further_speeds()]
    speeds += [table.name for table in PAPER_TABLES if table.speed]
    figures = ["sizes", "heads", "student_training"]
    if trained_teachers():
        figures.append("teacher_training")
    speed_figures, pages = ["front"], ["summary"]
    if COMPARED:
        tables.append("pruning")
        speeds.append("pruning")
        figures += PRUNING_FIGURES
        speed_figures += PRUNING_SPEED_FIGURES
        pages.append("pruning")
    return [
        *expand(TABLES / "{name}.{form}", name=tables, form=TABLE_FORMATS),
        *expand(SPEED_TABLES / "{name}.{form}", name=speeds, form=TABLE_FORMATS),
        *expand(FIGURES / "{name}.{form}", name=figures, form=FIGURE_FORMATS),
        *expand(
            SPEED_FIGURES / "{name}.{form}", name=speed_figures, form=FIGURE_FORMATS
        ),
        *expand(RESULTS / "{page}.md", page=pages),
        REPORT,
    ]
