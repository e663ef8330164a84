"""Quantized students: 8-bit with static activation scales, and logarithmic 4-bit, both also with fine-tuning."""

from weebill.experiment.precisions import GRIDS, UNTUNED


rule calibrate:
    """Record the ranges of all activations while a student translates training sentences drawn from all text."""
    input:
        model=MODELS / "{student}/{recipe}/float32",
        corpus=lambda w: training_text(w)[0],
    output:
        CALIBRATION / "{student}/{recipe}.json",
    log:
        LOGS / "calibrate/{student}.{recipe}.log",
    benchmark:
        BENCHMARKS / "calibrate/{student}.{recipe}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        sentences=config["quantization"]["calibration_sentences"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/quantize/calibrate.py"


rule quantize:
    """Round a float32 student to a grid without further training."""
    input:
        activation_ranges("{precision}"),
        model=MODELS / "{student}/{recipe}/float32",
    output:
        directory(MODELS / "{student}/{recipe}/{precision}"),
    log:
        LOGS / "quantize/{student}.{recipe}.{precision}.log",
    benchmark:
        BENCHMARKS / "quantize/{student}.{recipe}.{precision}.tsv"
    wildcard_constraints:
        precision=either(UNTUNED),
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        grid=lambda w: precision_of(w.precision).grid,
        activation_scale=lambda w: precision_of(w.precision).activation_scale,
        biases=lambda w: precision_of(w.precision).biases,
    script:
        "../../workflow_scripts/quantize/quantize.py"


rule finetune_quantized:
    """Fine-tune a float32 student under fake quantization, then round it to the grid."""
    input:
        activation_ranges("{grid}-finetuned"),
        model=MODELS / "{student}/{recipe}/float32",
        corpora=training_text,
        validation=VALIDATION,
    output:
        directory(MODELS / "{student}/{recipe}/{grid}-finetuned"),
    log:
        LOGS / "finetune_quantized/{student}.{recipe}.{grid}.log",
    benchmark:
        BENCHMARKS / "finetune_quantized/{student}.{recipe}.{grid}.tsv"
    wildcard_constraints:
        grid=either(GRIDS),
    priority: 1  # the longest chain of jobs starts first
    conda:
        "../../envs/main.yaml"
    threads: training_threads()
    resources:
        **student_resources(),
    params:
        activation_scale=lambda w: precision_of(f"{w.grid}-finetuned").activation_scale,
        training=lambda wildcards: {
            **TRAINING,
            **config["quantization"][wildcards.grid]["finetune"],
            "smoothing": 0.0,  # an average of models is not on the grid
            "stages": config["training"]["stages"][-1:],
        },
        seed=lambda w: seed_of(w.student, config),
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/{student}.{recipe}.{grid}-finetuned"),
        encoded=str(ENCODED),
    script:
        "../../workflow_scripts/quantize/finetune_quantized.py"
