"""Robustness of metrics: scores of damaged translations compared with scores of the undamaged ones."""


rule damage_translations:
    """Change numbers and names in a judged set's translations, and omit words."""
    input:
        table=lambda w: judged_tables([JUDGED_SETS[w.judged]]),
    output:
        DAMAGED / "{judged}.tsv",
    log:
        LOGS / "damage_translations/{judged}.log",
    benchmark:
        BENCHMARKS / "damage_translations/{judged}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        entry=lambda w: JUDGED_SETS[w.judged],
        segments=lambda w: config["evaluation"]["robustness"]["segments"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/damage_translations.py"


rule measure_robustness:
    """Measure how often and by how much the scores of damaged translations are lower."""
    input:
        table=lambda w: judged_tables([JUDGED_SETS[w.judged]]),
        damaged=DAMAGED / "{judged}.tsv",
        scores=lambda w: scores_of_all(w.judged, damaged_metrics(config, w.judged)),
        damaged_scores=lambda w: scores_of_all(
            damaged_name(w.judged), damaged_metrics(config, w.judged)
        ),
    output:
        EVALUATION / "robustness/{judged}.json",
    log:
        LOGS / "measure_robustness/{judged}.log",
    benchmark:
        BENCHMARKS / "measure_robustness/{judged}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        entry=lambda w: JUDGED_SETS[w.judged],
        damaged_entry=lambda w: JUDGED_SETS[damaged_name(w.judged)],
        resamples=config["evaluation"]["resamples"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/measure_robustness.py"
