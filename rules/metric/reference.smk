"""Reference models: COMET regression models trained by unbabel-comet on people's judgements, or a checkpoint."""

import json

TRAIN_REGRESSION = (
    run_in("comet", "metric/train_regression.py") + "--training {input.training:q}"
    " --validation {input.validation:q} --encoder {input.encoder:q} --output {output:q}"
    " --settings {params.settings:q} --seed {params.seed}"
    " --threads {threads} --accelerator {params.accelerator}"
)


if "checkpoint" in REFERENCE:

    rule import_reference:
        """Convert a checkpoint, from a file or the hub, into a complete metric folder."""
        input:
            checkpoint=present([REFERENCE["checkpoint"]]),  # empty if it is on the hub
            encoder=encoder_of(REFERENCE["encoder"]) if "encoder" in REFERENCE else [],
        output:
            directory(MEMBERS / "member-0"),
        log:
            LOGS / "import_reference.log",
        benchmark:
            BENCHMARKS / "import_reference.tsv"
        localrule: True  # cluster nodes rarely have a network
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(8000),
        params:
            checkpoint=REFERENCE["checkpoint"],
        script:
            "../../workflow_scripts/metric/import_reference.py"

else:

    rule split_judgements:
        """Split people's judgements into training and validation tables that share no source."""
        input:
            judged_tables(REFERENCE["judgements"]),
        output:
            training=JUDGED / "training.parquet",
            validation=JUDGED / "validation.parquet",
        log:
            LOGS / "split_judgements.log",
        benchmark:
            BENCHMARKS / "split_judgements.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        params:
            judgements=REFERENCE["judgements"],
            normalise=REFERENCE["normalise"],
            validation_share=REFERENCE["validation_share"],
        script:
            "../../workflow_scripts/metric/split_judgements.py"

    rule train_reference:
        """Train one member of the ensemble of reference models."""
        input:
            training=JUDGED / "training.parquet",
            validation=JUDGED / "validation.parquet",
            encoder=encoder_of(REFERENCE["encoder"]),
            environment=environment_of("comet"),
        output:
            directory(MEMBERS / "member-{member}"),
        log:
            LOGS / "train_reference/{member}.log",
        benchmark:
            BENCHMARKS / "train_reference/{member}.tsv"
        conda:
            "../../envs/comet.yaml"
        threads: process_threads()
        resources:
            **accelerators(1),
            mem_mb=growing(8000),
        params:
            settings=lambda w: json.dumps(REFERENCE["training"]),
            seed=lambda w: config["seed"] + int(w.member),
            versions=versions_of("comet"),
            accelerator=config["hardware"]["accelerator"],
        shell:
            TRAIN_REGRESSION
