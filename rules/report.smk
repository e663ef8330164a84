"""Tables, figures and pages of the measurements, one page with all of them, and copies for the documentation."""

from weebill.report import catalogue

# The rules of each kind of experiment define REPORT_FILES, the files of its measurements.
REPORT_FIELDS = [name for name, files in REPORT_FILES.items() if files]
REPORT_TABLES = catalogue.shown("tables", config, REPORT_FIELDS)
REPORT_FIGURES = catalogue.shown("figures", config, REPORT_FIELDS)
REPORT_PAGES = catalogue.pages(config, REPORT_FIELDS)


for rule_name, items in REPORT_TABLES.items():

    rule:
        """Make tables of the measurements, and of the papers' numbers with ours: CSV, Markdown, LaTeX and HTML."""
        name:
            rule_name
        input:
            **measured_files(items),
        output:
            **shown_tables(items),
        log:
            LOGS / f"{rule_name}.log",
        benchmark:
            BENCHMARKS / f"{rule_name}.tsv"
        conda:
            "../envs/main.yaml"
        threads: 1
        params:
            config=catalogue.settings(config),
            names=[item.file for item in items],
            folder=lambda w, output: Path(output[0]).parent.as_posix(),
            uses=catalogue.modules("tables", config, items),
        script:
            "../workflow_scripts/report/tables.py"


for rule_name, items in REPORT_FIGURES.items():

    rule:
        """Make figures of the measurements: PNG, SVG and interactive HTML."""
        name:
            rule_name
        input:
            **measured_files(items),
        output:
            **shown_figures(items),
        log:
            LOGS / f"{rule_name}.log",
        benchmark:
            BENCHMARKS / f"{rule_name}.tsv"
        conda:
            "../envs/main.yaml"
        threads: 1
        params:
            config=catalogue.settings(config),
            names=[item.file for item in items],
            folder=lambda w, output: Path(output[0]).parent.as_posix(),
            uses=catalogue.modules("figures", config, items),
        script:
            "../workflow_scripts/report/figures.py"


rule pages:
    """Write pages of Markdown with tables, figures, hardware, software and run times."""
    input:
        **measured_files(REPORT_PAGES),
        pictures=[file for page in REPORT_PAGES for file in pictures(page)],
    output:
        [RESULTS / f"{page.file}.md" for page in REPORT_PAGES],
    log:
        LOGS / "pages.log",
    benchmark:
        BENCHMARKS / "pages.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=config,
        pages=[(page.make, page.pictures) for page in REPORT_PAGES],
        figures=lambda w: str(FIGURES),
        benchmarks=lambda w: str(BENCHMARKS),
        uses=catalogue.modules("pages", config, REPORT_PAGES),
    script:
        "../workflow_scripts/report/pages.py"


rule write_report:
    """Write the report: one page with the answer first, then tables and figures of each stage."""
    input:
        **measured_files([catalogue.FRONTS[config["kind"]]]),
        **REPORT_EXAMPLES,
        exhibits=lambda w: [file for file, *_ in exhibits()],
    output:
        REPORT,
    log:
        LOGS / "write_report.log",
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=config,
        exhibits=lambda w: exhibits(),
        stages=lambda w: stages(),
        benchmarks=lambda w: str(BENCHMARKS),
        uses=catalogue.modules("front", config, [catalogue.FRONTS[config["kind"]]]),
    script:
        "../workflow_scripts/report/report.py"


rule model_cards:
    """Write a card for every model: data and licences, scores, size, speed; also into its folder and exports."""
    input:
        **measured_files([catalogue.FRONTS[config["kind"]]]),
        folders=[folder for folders in CARD_FOLDERS.values() for folder in folders],
        lock=CARD_LOCK,
    output:
        [CARDS / f"{name}.md" for name in CARD_FOLDERS],
    log:
        LOGS / "model_cards.log",
    benchmark:
        BENCHMARKS / "model_cards.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        config=config,
        folders={name: list(map(str, some)) for name, some in CARD_FOLDERS.items()},
        uses=catalogue.modules("cards", config, [catalogue.CARDS[config["kind"]]]),
    script:
        "../workflow_scripts/report/cards.py"


rule provenance:
    """Write Snakemake's report of the complete run: rules, code, tables, figures and run times of all jobs."""
    input:
        reported(),
    output:
        PROVENANCE,
    log:
        LOGS / "provenance.log",
    localrule: True  # takes seconds and reads .snakemake
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        snakefile=unrecorded(lambda w: workflow.main_snakefile),
        configfiles=unrecorded(
            lambda w: [str(Path(path).resolve()) for path in workflow.configfiles]
        ),
        settings=[
            f"{key}={value}" for key, value in workflow.config_settings.config.items()
        ],
    script:
        "../workflow_scripts/report/provenance.py"


for page in REPORT_PAGES:
    whole = page.file == "summary"
    rule_name = "publish" if whole else f"publish_{page.file}"
    published = config["experiment"] if whole else page.file

    rule:
        """Copy a page and its figures to docs/results, to be committed; runs only if requested by name."""
        name:
            rule_name
        input:
            page=RESULTS / f"{page.file}.md",
            figures=pictures(page),
        output:
            page=f"docs/results/{published}.md",
            figures=[f"docs/results/{published}/{file.name}" for file in pictures(page)],
        log:
            LOGS / f"{rule_name}.log",
        conda:
            "../envs/main.yaml"
        threads: 1
        script:
            "../workflow_scripts/report/publish.py"


rule publish_table:
    """Copy one table to docs/results, to be committed; runs only if requested by name."""
    input:
        TABLES / "{table}.md",
    output:
        f"docs/results/{config['experiment']}/{{table}}.md",
    log:
        LOGS / "publish_table/{table}.log",
    conda:
        "../envs/main.yaml"
    threads: 1
    shell:
        "(cp {input:q} {output:q} && sync {output:q}) 2> {log:q}"
