"""Agreement of every metric with people, and its size and speed."""


rule score_judged:
    """Score a judged set with a metric, segment by segment."""
    input:
        table=lambda w: judged_tables([JUDGED_SETS[w.judged]]),
        models=lambda w: model_of(w.metric),
        scores=lambda w: scores_of(JUDGED_SETS[w.judged], w.metric),
    output:
        SCORES / "{judged}/{metric}.json",
    log:
        LOGS / "score_judged/{judged}.{metric}.log",
    benchmark:
        BENCHMARKS / "score_judged/{judged}.{metric}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(6000),
    params:
        entry=lambda w: JUDGED_SETS[w.judged],
        precision=config["evaluation"]["precision"],
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/metric/score_judged.py"


rule measure_agreement:
    """Measure the agreement of all metrics with people on a judged set, with intervals and significance."""
    input:
        table=lambda w: judged_tables([JUDGED_SETS[w.judged]]),
        scores=lambda w: scores_of_all(w.judged, shown_metrics(config, w.judged)),
    output:
        EVALUATION / "agreement/{judged}.json",
    log:
        LOGS / "measure_agreement/{judged}.log",
    benchmark:
        BENCHMARKS / "measure_agreement/{judged}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        name=lambda w: w.judged,
        entry=lambda w: JUDGED_SETS[w.judged],
        resamples=config["evaluation"]["resamples"],
        permutations=config["evaluation"]["permutations"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/measure_agreement.py"


rule measure_metric:
    """Count a metric's parameters and bytes, and record the weight of each state of its encoder."""
    input:
        model=lambda w: model_of(w.metric)[0],
    output:
        EVALUATION / "size/{metric}.json",
    log:
        LOGS / "measure_metric/{metric}.log",
    benchmark:
        BENCHMARKS / "measure_metric/{metric}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
    script:
        "../../workflow_scripts/metric/measure_metric.py"


rule measure_metric_speed:
    """Measure seconds by systems, segments and candidates, all metrics in turn on one core."""
    input:
        models=[model_of(name)[0] for name in timed_metrics()],
        files=timed_files(),
    output:
        EVALUATION / "speed.json",
    log:
        LOGS / "measure_metric_speed.log",
    benchmark:
        BENCHMARKS / "measure_metric_speed.tsv"
    conda:
        "../../envs/main.yaml"
    # Take all of --cores, so that nothing else runs meanwhile.
    threads: lambda w: workflow.cores if workflow.local_exec else process_threads()
    resources:
        mem_mb=growing(6000),
    params:
        names=timed_metrics(),
        speed=config["evaluation"].get("speed"),
        precision=config["evaluation"]["precision"],
    script:
        "../../workflow_scripts/metric/measure_metric_speed.py"
