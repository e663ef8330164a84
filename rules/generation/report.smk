"""Tables and figures of models that generate text, those of TEXTGEN, and one page of all."""


rule generation_tables:
    """All variants, and the paper's tables with ours beside."""
    input:
        **GENERATION_RESULTS,
    output:
        **several_table_files(GENERATION_TABLES),
    log:
        LOGS / "generation_tables.log",
    benchmark:
        BENCHMARKS / "generation_tables.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        pruned=MOVEMENT_VARIANTS,
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/generation/tables.py"


if GENERATION_FIGURES:

    rule generation_figures:
        """The paper's figures by our measurements."""
        input:
            **GENERATION_RESULTS,
        output:
            **several_figure_files(GENERATION_FIGURES),
        log:
            LOGS / "generation_figures.log",
        benchmark:
            BENCHMARKS / "generation_figures.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        params:
            config=config,
            pruned=MOVEMENT_VARIANTS,
            names=list(GENERATION_FIGURES),
            folder=lambda w, output: Path(output[0]).parent.as_posix(),
        script:
            "../../workflow_scripts/generation/figures.py"


rule generation_page:
    """One page of Markdown with every table and figure, what it ran on and how long it took."""
    input:
        **GENERATION_RESULTS,
        figures=page_pictures(),
    output:
        RESULTS / "summary.md",
    log:
        LOGS / "generation_page.log",
    benchmark:
        BENCHMARKS / "generation_page.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        pruned=MOVEMENT_VARIANTS,
        titles=list(GENERATION_FIGURES.values()),
        benchmarks=str(BENCHMARKS),
    script:
        "../../workflow_scripts/generation/page.py"
