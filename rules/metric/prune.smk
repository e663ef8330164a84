"""Smaller metrics, made by pruning the reference: top layers, feed-forward neurons and heads (COMETINHO §4)."""

PRUNING_METHODS = sorted(
    {METHODS.module(one["method"]) for recipe in PRUNED.values() for one in recipe}
)


rule prune_metric:
    """Prune the parts of the reference that matter least by the gradient of its loss."""
    input:
        metric=model_of("reference")[0],
        judgements=judged_tables(config["pruning"]["judgements"]),
    output:
        directory(MODELS / "{metric}"),
    log:
        LOGS / "prune_metric/{metric}.log",
    benchmark:
        BENCHMARKS / "prune_metric/{metric}.tsv"
    wildcard_constraints:
        metric=either(PRUNED),
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=growing(8000),
    params:
        recipe=lambda w: PRUNED[w.metric],
        uses=lambda w: [METHODS.module(method["method"]) for method in PRUNED[w.metric]],
        judgements=config["pruning"]["judgements"],
        segments=config["pruning"]["segments"],
        seed=config["seed"],
        # A checkpoint's training settings are unknown.
        normalise=None if "checkpoint" in REFERENCE else REFERENCE["normalise"],
        validation_share=REFERENCE["validation_share"],
    script:
        "../../workflow_scripts/metric/prune_metric.py"
