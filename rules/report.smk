"""Tables and figures of everything measured, and one page that holds them all."""

from goldcrest.report.paper_tables import TABLES as PAPER_TABLES
from goldcrest.report.papers import PAPERS
from goldcrest.report.rendering import FORMATS as TABLE_FORMATS

SPEED_FIGURES = FIGURES / "speed"
FIGURE_FORMATS = ["png", "svg", "html"]
STUDENTS = list(dict.fromkeys(student for student, _, _ in VARIANTS))


def measurements(kind):
    """The quality or size files of all variants."""
    return [EVALUATION / kind / f"{'/'.join(variant)}.json" for variant in MEASURED]


def report_config():
    """What the tables need of the configuration."""
    return {
        key: config[key] for key in ("experiment", "languages", "test_sets", "report")
    }


def table_files(folder, name, category, title, caption, subcategory=None):
    """A table's files by format; its page is shown in the report."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in TABLE_FORMATS}
    files[f"{name}_html"] = report(
        files[f"{name}_html"],
        category=category,
        subcategory=subcategory,
        caption=f"../report/{caption}.rst",
        labels={"result": title, "form": "table"},
    )
    return files


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


def figure_files(folder, name, category, title):
    """A figure's files by format; its interactive page is shown in the report."""
    files = {f"{name}_{form}": folder / f"{name}.{form}" for form in FIGURE_FORMATS}
    files[f"{name}_html"] = report(
        files[f"{name}_html"],
        category=category,
        caption=f"../report/{name}.rst",
        labels={"result": title, "form": "figure"},
    )
    return files


def trained_teachers():
    """The teacher's members that are trained here."""
    return [] if "hugging_face" in config["teacher"] else teacher_folders()


def report_targets():
    """All that is made of the measurements."""
    tables = ["variants", "heads", *(table.name for table in PAPER_TABLES)]
    speeds = ["variants", *(table.name for table in PAPER_TABLES if table.speed)]
    figures = ["sizes", "heads", "student_training"]
    if trained_teachers():
        figures.append("teacher_training")
    return [
        *expand(TABLES / "{name}.{form}", name=tables, form=TABLE_FORMATS),
        *expand(SPEED_TABLES / "{name}.{form}", name=speeds, form=TABLE_FORMATS),
        *expand(FIGURES / "{name}.{form}", name=figures, form=FIGURE_FORMATS),
        *expand(SPEED_FIGURES / "front.{form}", form=FIGURE_FORMATS),
        RESULTS / "summary.md",
    ]


rule tables:
    """All variants, what pruning left, and the papers' tables with ours beside: no timings."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
    output:
        **table_files(TABLES, "variants", "6 Evaluation", "All variants", "variants"),
        **table_files(TABLES, "heads", "4 Pruning", "What is left", "heads"),
        **paper_table_files(TABLES, speed=False),
    log:
        LOGS / "tables.log",
    benchmark:
        BENCHMARKS / "tables.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=str(TABLES),
        code=code_version("evaluation.measurement", "evaluation.size", "report"),
    script:
        "../workflow_scripts/report/tables.py"


rule speed_tables:
    """The same for everything that depends on the machine."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        speed=EVALUATION / "speed.json",
    output:
        **table_files(
            SPEED_TABLES, "variants", "6 Evaluation", "All variants: speed", "speed"
        ),
        **paper_table_files(SPEED_TABLES, speed=True),
    log:
        LOGS / "speed_tables.log",
    benchmark:
        BENCHMARKS / "speed_tables.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=str(SPEED_TABLES),
        code=code_version("evaluation.measurement", "evaluation.size", "report"),
    script:
        "../workflow_scripts/report/speed_tables.py"


rule figures:
    """Sizes of all variants, and what pruning left of the encoder's heads."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
    output:
        **figure_files(FIGURES, "sizes", "5 Quantization", "Sizes"),
        **figure_files(FIGURES, "heads", "4 Pruning", "Heads left"),
    log:
        LOGS / "figures.log",
    benchmark:
        BENCHMARKS / "figures.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=str(FIGURES),
        code=code_version("report"),
    script:
        "../workflow_scripts/report/figures.py"


rule front_figure:
    """Quality against speed and size, interactive."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        speed=EVALUATION / "speed.json",
    output:
        **figure_files(
            SPEED_FIGURES, "front", "6 Evaluation", "Quality, speed and size"
        ),
    log:
        LOGS / "front_figure.log",
    benchmark:
        BENCHMARKS / "front_figure.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=str(SPEED_FIGURES),
        code=code_version("report"),
    script:
        "../workflow_scripts/report/front_figure.py"


rule teacher_training_figure:
    """How the teacher's members learnt."""
    input:
        models=trained_teachers(),
    output:
        **figure_files(FIGURES, "teacher_training", "2 Teacher", "Training"),
    log:
        LOGS / "teacher_training_figure.log",
    benchmark:
        BENCHMARKS / "teacher_training_figure.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        title="How the teacher's members learnt",
        names=[Path(folder).name for folder in trained_teachers()],
        code=code_version("report.figures"),
    script:
        "../workflow_scripts/report/training_figure.py"


rule student_training_figure:
    """How the students learnt."""
    input:
        models=expand(MODELS / "{student}/unpruned/float32", student=STUDENTS),
    output:
        **figure_files(FIGURES, "student_training", "3 Students", "Training"),
    log:
        LOGS / "student_training_figure.log",
    benchmark:
        BENCHMARKS / "student_training_figure.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        title="How the students learnt",
        names=STUDENTS,
        code=code_version("report.figures"),
    script:
        "../workflow_scripts/report/training_figure.py"


rule summary:
    """One page of Markdown with every table, what it ran on and how long it took."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        speed=EVALUATION / "speed.json",
        figures=[
            SPEED_FIGURES / "front.svg",
            FIGURES / "sizes.svg",
            FIGURES / "heads.svg",
        ],
    output:
        RESULTS / "summary.md",
    log:
        LOGS / "summary.log",
    benchmark:
        BENCHMARKS / "summary.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=config,
        benchmarks=str(BENCHMARKS),
        code=code_version("evaluation", "report"),
    script:
        "../workflow_scripts/report/summary.py"


rule publish:
    """Copy the summary and its figures to docs/results, to be committed (asked for by name only)."""
    input:
        summary=RESULTS / "summary.md",
        figures=rules.summary.input.figures,
    output:
        page=f"docs/results/{config['experiment']}.md",
        figures=expand(
            "docs/results/{experiment}/{name}.svg",
            experiment=config["experiment"],
            name=["front", "sizes", "heads"],
        ),
    log:
        LOGS / "publish.log",
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        experiment=config["experiment"],
        code=code_version("report.experiment_page"),
    script:
        "../workflow_scripts/report/publish.py"
