"""Pruned students: each recipe of the configuration, from a checkpoint of the student's training."""

PRUNED = pruned_students(config)  # (student, recipe)
PRUNING_METHODS = sorted(
    {METHODS.module(recipe["method"]) for recipe in config["pruning"].values()}
)


rule reset_checkpoint:
    """Train a student up to the checkpoint that its pruning recipes share and reset to (WNGT20 §4)."""
    input:
        corpora=training_text,
        validation=VALIDATION,
        vocabulary=lambda w: vocabulary_of(w.student),
    output:
        directory(RESET_CHECKPOINTS / "{student}/{updates}"),
    log:
        LOGS / "reset_checkpoint/{student}.{updates}.log",
    benchmark:
        BENCHMARKS / "reset_checkpoint/{student}.{updates}.tsv"
    wildcard_constraints:
        updates="[0-9]+",
    priority: 1  # the longest chain of jobs starts first
    conda:
        "../../envs/main.yaml"
    threads: training_threads()
    resources:
        **student_resources(),
    params:
        entry=lambda w: entry_of(w.student),
        training=TRAINING,
        seed=lambda w: seed_of(w.student, config),
        hardware=config["hardware"],
        encoded=str(ENCODED),
    script:
        "../../workflow_scripts/prune/reset_checkpoint.py"


rule prune:
    """Prune a student by a recipe, e.g. the least confident heads with late resetting (WNGT20 §4)."""
    input:
        start=pruning_start,
        corpora=training_text,
        validation=VALIDATION,
    output:
        model=directory(MODELS / "{student}/{recipe}/float32"),
        history=MODELS / "{student}/{recipe}/pruning.json",
    log:
        LOGS / "prune/{student}.{recipe}.log",
    benchmark:
        BENCHMARKS / "prune/{student}.{recipe}.tsv"
    wildcard_constraints:
        recipe="(?!unpruned/)[^/]+",
    priority: 1  # the longest chain of jobs starts first
    conda:
        "../../envs/main.yaml"
    threads: training_threads()
    resources:
        **student_resources(),
    params:
        recipe=lambda w: recipe_of(w.recipe),
        uses=lambda w: [METHODS.module(recipe_of(w.recipe)["method"])],
        training=TRAINING,
        seed=lambda w: seed_of(w.student, config),
        hardware=config["hardware"],
        encoded=str(ENCODED),
    script:
        "../../workflow_scripts/prune/prune.py"


rule head_map:
    """Write, for every head that a recipe may remove, the step that removed it and its last score."""
    input:
        expand(MODELS / "{pair[0]}/{pair[1]}/pruning.json", pair=PRUNED),
    output:
        TABLES / "head_map.csv",
    log:
        LOGS / "head_map.log",
    benchmark:
        BENCHMARKS / "head_map.tsv"
    conda:
        "../../envs/main.yaml"
    params:
        variants=PRUNED,
    script:
        "../../workflow_scripts/prune/head_map.py"
