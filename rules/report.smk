"""Tables, figures and pages from the measurements, the report, model cards, and copies for the documentation."""

from weebill.report import catalogue

# The rules of each kind of experiment define REPORT_FILES, its measurement files.
REPORT_FIELDS = [name for name, files in REPORT_FILES.items() if files]
REPORT_TABLES = catalogue.shown("tables", config, REPORT_FIELDS)
REPORT_FIGURES = catalogue.shown("figures", config, REPORT_FIELDS)
REPORT_PAGES = catalogue.pages(config, REPORT_FIELDS)


for rule_name, items in REPORT_TABLES.items():

    rule:
        """Make tables of our measurements, and of the papers' numbers with ours, in all formats."""
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
        """Make figures of the measurements, as PNG, SVG and interactive HTML."""
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


FRONT, CARD = (named[config["kind"]] for named in (catalogue.FRONTS, catalogue.CARDS))


rule pages:
    """Write the report, Markdown pages, and a card for every model, also into its folder."""
    input:
        **measured_files([FRONT, *REPORT_PAGES]),
        **REPORT_EXAMPLES,
        exhibits=lambda w: [file for file, *_ in exhibits()],
        pictures=[file for page in REPORT_PAGES for file in pictures(page)],
        folders=[folder for folders in CARD_FOLDERS.values() for folder in folders],
        lock=CARD_LOCK,
    output:
        report=REPORT,
        pages=[RESULTS / f"{page.file}.md" for page in REPORT_PAGES],
        cards=[CARDS / f"{name}.md" for name in CARD_FOLDERS],
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
        exhibits=lambda w: exhibits(),
        stages=lambda w: stages(),
        folders={name: list(map(str, some)) for name, some in CARD_FOLDERS.items()},
        figures=lambda w: str(FIGURES),
        benchmarks=lambda w: str(BENCHMARKS),
        uses=[
            *catalogue.modules("pages", config, REPORT_PAGES),
            *catalogue.modules("front", config, [FRONT]),
            *catalogue.modules("cards", config, [CARD]),
        ],
    script:
        "../workflow_scripts/report/pages.py"


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
    published = config["experiment"] + ("" if whole else f"-{page.file}")

    rule:
        """Write a page with its rows and figures to docs/results, for a commit; runs only if requested by name."""
        name:
            rule_name
        input:
            **measured_files([page, *drawn_on(page)]),
            page=RESULTS / f"{page.file}.md",
        output:
            page=f"docs/results/{published}.md",
            rows=f"docs/results/{published}/rows.json",
            figures=[f"docs/results/{published}/{file.name}" for file in pictures(page)],
        log:
            LOGS / f"{rule_name}.log",
        conda:
            "../envs/main.yaml"
        threads: 1
        params:
            page=page.file,
            config=config,
            benchmarks=lambda w: str(BENCHMARKS),
            rules=lambda w: measuring_code(),
            # Given by name, because a change of its code affects no row; `weebill publish` renders the page again.
            render="weebill.report.published:render",
        script:
            "../workflow_scripts/report/publish.py"


rule publish_table:
    """Write a page of one table with its rows to docs/results, for a commit; runs only if requested by name."""
    input:
        TABLES / "{table}.json",
    output:
        page=f"docs/results/{config['experiment']}/{{table}}.md",
        rows=f"docs/results/{config['experiment']}/{{table}}/rows.json",
    log:
        LOGS / "publish_table/{table}.log",
    conda:
        "../envs/main.yaml"
    threads: 1
    params:
        rules=lambda w: scripts_of_rules(),
        render="weebill.report.published:render",  # as for pages
    script:
        "../workflow_scripts/report/publish_table.py"
