"""Students on a grid: 8-bit with static activation scales, logarithmic 4-bit, each also fine-tuned."""

CALIBRATION = RESULTS / "calibration"

# The ranges of a float32 model's activations, for the grids that quantize these too.
ACTIVATION_RANGES = {"int8": [str(CALIBRATION / "{student}/{recipe}.json")], "log4": []}


rule calibrate:
    """Record the ranges of all activations while a student translates training sentences."""
    input:
        model=MODELS / "{student}/{recipe}/float32",
        corpus=DISTILLED / "training.parquet",
    output:
        CALIBRATION / "{student}/{recipe}.json",
    log:
        LOGS / "calibrate/{student}.{recipe}.log",
    benchmark:
        BENCHMARKS / "calibrate/{student}.{recipe}.tsv"
    conda:
        "../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        sentences=config["quantization"]["calibration_sentences"],
        code=code_version(
            "corpus.table",
            "products",
            "quantization.calibration",
            "quantization.grids",
            "quantization.modules",
            "translation.architecture",
            "translation.batches",
            "translation.folder",
            "translation.layers",
            "translation.network",
            "translation.search",
            "translation.vocabulary",
        ),
    script:
        "../workflow_scripts/quantize/calibrate.py"


rule quantize:
    """Put a float32 student on a grid without further training."""
    input:
        lambda w: expand(ACTIVATION_RANGES[w.grid], student=w.student, recipe=w.recipe),
        model=MODELS / "{student}/{recipe}/float32",
    output:
        directory(MODELS / "{student}/{recipe}/{grid}"),
    log:
        LOGS / "quantize/{student}.{recipe}.{grid}.log",
    benchmark:
        BENCHMARKS / "quantize/{student}.{recipe}.{grid}.tsv"
    wildcard_constraints:
        grid="int8|log4",
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        activation_scale=lambda w: config["quantization"][w.grid].get(
            "activation_scale"
        ),
        code=code_version(
            "quantization",
            "translation.architecture",
            "translation.folder",
            "translation.layers",
            "translation.network",
        ),
    script:
        "../workflow_scripts/quantize/quantize.py"


rule finetune_quantized:
    """Train a float32 student on under fake quantization, then put it on the grid."""
    input:
        lambda w: expand(ACTIVATION_RANGES[w.grid], student=w.student, recipe=w.recipe),
        model=MODELS / "{student}/{recipe}/float32",
        corpora=[DISTILLED / "training.parquet"],
        validation=VALIDATION,
    output:
        directory(MODELS / "{student}/{recipe}/{grid}-finetuned"),
    log:
        LOGS / "finetune_quantized/{student}.{recipe}.{grid}.log",
    benchmark:
        BENCHMARKS / "finetune_quantized/{student}.{recipe}.{grid}.tsv"
    wildcard_constraints:
        grid="int8|log4",
    conda:
        "../envs/main.yaml"
    threads: training_threads()
    resources:
        **student_resources(),
    params:
        activation_scale=lambda w: config["quantization"][w.grid].get(
            "activation_scale"
        ),
        training=lambda wildcards: {
            **config["training"],
            **config["quantization"][wildcards.grid]["finetune"],
            "smoothing": 0.0,  # an average of models is not on the grid
        },
        seed=config["seed"],
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/{student}.{recipe}.{grid}-finetuned"),
        code=code_version("quantization", "translation", "products", "corpus.table"),
    script:
        "../workflow_scripts/quantize/finetune_quantized.py"
