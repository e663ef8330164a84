"""Tables and figures of metrics, those of COMETINHO, and one page of all."""


rule metric_tables:
    """Agreement with people, and the paper's tables with ours beside."""
    input:
        **METRIC_RESULTS,
    output:
        **several_table_files(METRIC_TABLES),
    log:
        LOGS / "metric_tables.log",
    benchmark:
        BENCHMARKS / "metric_tables.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/metric/tables.py"


rule metric_figures:
    """The paper's figures by our measurements."""
    input:
        **METRIC_RESULTS,
    output:
        **several_figure_files(METRIC_FIGURES),
    log:
        LOGS / "metric_figures.log",
    benchmark:
        BENCHMARKS / "metric_figures.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        names=list(METRIC_FIGURES),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/metric/figures.py"


rule metric_page:
    """One page of Markdown with every table and figure, what it ran on and how long it took."""
    input:
        **METRIC_RESULTS,
        figures=page_pictures(),
    output:
        RESULTS / "summary.md",
    log:
        LOGS / "metric_page.log",
    benchmark:
        BENCHMARKS / "metric_page.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        titles=list(METRIC_FIGURES.values()),
        benchmarks=str(BENCHMARKS),
    script:
        "../../workflow_scripts/metric/page.py"
