"""Steps that make a model smaller; each makes a new variant from a variant (TEXTGEN §3).

A variant's path names its steps, so a target can request any steps in any order.
"""


def start_of(wildcards):
    """Return the folder of the model that a step starts from."""
    return folder_of(wildcards.origin)


def text_of_step(wildcards):
    """Return the text that a step uses."""
    return data_of(model_of(wildcards.origin))


rule fine_tune:
    """Train a model on the text's own labels."""
    input:
        model=start_of,
        data=text_of_step,
    output:
        model=directory(MODELS / "{origin}/{step}/model"),
    log:
        LOGS / "step/{origin}/{step}.log",
    benchmark:
        BENCHMARKS / "step/{origin}/{step}.tsv"
    wildcard_constraints:
        step=either(steps_by(config, "fine-tune")),
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        step=lambda w: config["steps"][w.step],
        lengths=lambda w: lengths_of(model_of(w.origin)),
        seed=config["seed"],
        hardware=config["hardware"],
        # A change of these values does not require a new training.
        measured=unrecorded(lambda w: measured_lengths(config, model_of(w.origin))),
        vocabulary_pruned=unrecorded(
            lambda w: vocabulary_pruned(config, model_of(w.origin))
        ),
    script:
        "../../workflow_scripts/generation/step.py"


use rule fine_tune as distil_layers with:
    wildcard_constraints:
        step=either(steps_by(config, "distil")),
    resources:
        **accelerators(1),
        mem_mb=growing(12000),


use rule fine_tune as prune_by_movement with:
    output:
        model=directory(MODELS / "{origin}/{step}/model"),
        record=MODELS / "{origin}/{step}/pruning.json",
    wildcard_constraints:
        step=either(steps_by(config, "movement")),


use rule fine_tune as train_quantization_aware with:
    wildcard_constraints:
        step=either(steps_by(config, "quantization-aware")),


use rule fine_tune as quantize_weights with:
    wildcard_constraints:
        step=either(steps_by(config, "post-training")),
    resources:
        mem_mb=growing(8000),


use rule fine_tune as prune_vocabulary with:
    wildcard_constraints:
        step=either(steps_by(config, "prune-vocabulary")),
    resources:
        mem_mb=growing(8000),
