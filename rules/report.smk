"""One page that holds all tables and figures, and single tables for the documentation."""


rule report_page:
    """Snakemake's report of the complete run: tables, figures and run times in one page."""
    input:
        reported(),
    output:
        REPORT,
    log:
        LOGS / "report_page.log",
    localrule: True  # seconds, and it reads .snakemake
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
        "../workflow_scripts/report/report_page.py"


rule publish:
    """Copy the page and its figures to docs/results, to be committed (asked for by name only)."""
    input:
        page=RESULTS / "summary.md",
        figures=page_pictures(),
    output:
        page=f"docs/results/{config['experiment']}.md",
        figures=[
            f"docs/results/{config['experiment']}/{Path(file).name}"
            for file in page_pictures()
        ],
    log:
        LOGS / "publish.log",
    conda:
        "../envs/main.yaml"
    threads: 1
    script:
        "../workflow_scripts/report/publish.py"


rule publish_table:
    """Copy one table to docs/results, to be committed (asked for by name only)."""
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
