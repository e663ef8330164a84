"""Tables and figures of everything measured, and one page that holds them all."""


rule tables:
    """All variants, what pruning left, and the papers' tables with ours beside: no timings."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        comparisons=compared(),
    output:
        **table_files(TABLES, "variants", "6 Evaluation", "All variants", "variants"),
        **table_files(TABLES, "heads", "4 Pruning", "Heads and neurons left", "heads"),
        **pruning_table_files(TABLES, "What pruning is worth", "pruning"),
        **paper_table_files(TABLES, speed=False),
    log:
        LOGS / "tables.log",
    benchmark:
        BENCHMARKS / "tables.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/tables.py"


rule speed_tables:
    """The same for everything that depends on the machine, latency and the runtime's benchmark too."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        comparisons=compared(),
        speed=EVALUATION / "speed.json",
        latency=EVALUATION / "latency.json",
        engines=benchmarked(),
        gpu=timed_on_gpu(),
    output:
        **table_files(
            SPEED_TABLES, "variants", "6 Evaluation", "All variants: speed", "speed"
        ),
        **table_files(
            SPEED_TABLES, "latency", "6 Evaluation", "All variants: latency", "latency"
        ),
        **further_speed_table_files(),
        **pruning_table_files(
            SPEED_TABLES, "What pruning is worth: speed", "pruning_speed"
        ),
        **paper_table_files(SPEED_TABLES, speed=True),
    log:
        LOGS / "speed_tables.log",
    benchmark:
        BENCHMARKS / "speed_tables.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/speed_tables.py"


rule activation_scales_table:
    """The formulas of activation scales side by side, on every student that was made by each."""
    input:
        quality=compared_scales_quality(),
        errors=[
            EVALUATION / "activation_error" / f"{'/'.join(source)}.json"
            for source in COMPARED_SCALES
        ],
    output:
        **table_files(
            TABLES,
            "activation_scales",
            "5 Quantization",
            "Activation scales",
            "activation_scales",
        ),
    log:
        LOGS / "activation_scales_table.log",
    benchmark:
        BENCHMARKS / "activation_scales_table.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        sources=["/".join(source) for source in COMPARED_SCALES],
        formulas={name: made.activation_scale for name, made in QUANTIZED.items()},
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/activation_scales_table.py"


rule training_texts_table:
    """Students by what they were trained on."""
    input:
        comparisons=expand(
            EVALUATION / "training_texts/{student}.json", student=OTHER_TEXTS
        ),
        quality=measurements("quality"),
        tables=[table for kind in learnt_kinds(config) for table in texts_of(kind)],
    output:
        **table_files(
            TABLES, "training_texts", "3 Students", "Training texts", "training_texts"
        ),
    log:
        LOGS / "training_texts_table.log",
    benchmark:
        BENCHMARKS / "training_texts_table.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        texts=training_texts(config),
        kinds=[kind for kind in learnt_kinds(config) for _ in texts_of(kind)],
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/training_texts_table.py"


rule seeds_table:
    """Pruned students over the seeds of their training."""
    input:
        compared_seeds(),
    output:
        **table_files(TABLES, "seeds", "4 Pruning", "Other seeds", "seeds"),
    log:
        LOGS / "seeds_table.log",
    benchmark:
        BENCHMARKS / "seeds_table.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/seeds_table.py"


rule figures:
    """Sizes of all variants, what pruning left of the encoder's heads, and quality by what went."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        comparisons=compared(),
        heads=TABLES / "head_map.csv",
    output:
        **figure_files(FIGURES, "sizes", "5 Quantization", "Sizes"),
        **figure_files(FIGURES, "heads", "4 Pruning", "Heads left"),
        **pruning_figure_files(FIGURES, PRUNING_FIGURES),
    log:
        LOGS / "figures.log",
    benchmark:
        BENCHMARKS / "figures.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/figures.py"


rule speed_figures:
    """Quality against speed and size, of all variants and of the pruned ones, interactive."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        comparisons=compared(),
        speed=EVALUATION / "speed.json",
    output:
        **figure_files(
            SPEED_FIGURES, "front", "6 Evaluation", "Quality, speed and size"
        ),
        **pruning_figure_files(SPEED_FIGURES, PRUNING_SPEED_FIGURES),
    log:
        LOGS / "speed_figures.log",
    benchmark:
        BENCHMARKS / "speed_figures.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=report_config(),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/report/speed_figures.py"


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
        "../../envs/main.yaml"
    threads: 1
    params:
        title="How the teacher's members learnt",
        names=[Path(folder).name for folder in trained_teachers()],
    script:
        "../../workflow_scripts/report/training_figure.py"


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
        "../../envs/main.yaml"
    threads: 1
    params:
        title="How the students learnt",
        names=STUDENTS,
    script:
        "../../workflow_scripts/report/training_figure.py"


rule summary:
    """One page of Markdown with every table, what it ran on and how long it took."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        speed=EVALUATION / "speed.json",
        shortlists=shortlist_measurements(),
        latency=EVALUATION / "latency.json",
        engines=benchmarked(),
        gpu=timed_on_gpu(),
        figures=page_pictures(),
    output:
        RESULTS / "summary.md",
    log:
        LOGS / "summary.log",
    benchmark:
        BENCHMARKS / "summary.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        benchmarks=str(BENCHMARKS),
    script:
        "../../workflow_scripts/report/summary.py"


rule pruning_page:
    """One page of Markdown on what pruning is worth, with the papers' tables of pruning."""
    input:
        quality=measurements("quality"),
        sizes=measurements("size"),
        comparisons=compared(),
        seeds=compared_seeds(),
        speed=EVALUATION / "speed.json",
        figures=pruning_pictures(),
    output:
        RESULTS / "pruning.md",
    log:
        LOGS / "pruning_page.log",
    benchmark:
        BENCHMARKS / "pruning_page.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        config=config,
        benchmarks=str(BENCHMARKS),
    script:
        "../../workflow_scripts/report/pruning_page.py"


rule publish_pruning:
    """Copy the page of pruning and its figures to docs/results, to be committed (asked for by name only)."""
    input:
        page=RESULTS / "pruning.md",
        figures=pruning_pictures(),
    output:
        page="docs/results/pruning.md",
        figures=[f"docs/results/pruning/{file.name}" for file in pruning_pictures()],
    log:
        LOGS / "publish_pruning.log",
    conda:
        "../../envs/main.yaml"
    threads: 1
    script:
        "../../workflow_scripts/report/publish.py"
