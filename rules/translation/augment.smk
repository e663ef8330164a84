"""Training text with typical variations of users' input, if the configuration asks for it."""


rule augment_text:
    """Add changed copies of some rows to a training text: case, typos, merged rows, placeholders."""
    input:
        DISTILLED / "training{text}.parquet",
    output:
        DISTILLED / "augmented{text}.parquet",
    log:
        LOGS / "augment_text{text}.log",
    benchmark:
        BENCHMARKS / "augment_text{text}.tsv"
    wildcard_constraints:
        text="|@[^/]+",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        augmentation=config["distillation"]["augmentation"],
        languages=config["languages"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/distil/augment_text.py"
