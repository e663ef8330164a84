"""Models of the reverse direction: the reverse teacher, which translates back, and a model that only scores."""


rule reverse_corpora:
    """Write the cleaned parallel corpora and the validation set with swapped sides."""
    input:
        corpora=reversible(),
        validation=VALIDATION,
    output:
        corpora=temp(SCORING / "reversed.parquet"),
        validation=temp(SCORING / "reversed_validation.parquet"),
    log:
        LOGS / "reverse_corpora.log",
    benchmark:
        BENCHMARKS / "reverse_corpora.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../../workflow_scripts/scores/reverse_corpora.py"


use rule train_vocabulary as train_reverse_vocabulary with:
    input:
        corpora=[SCORING / "reversed.parquet"],
    output:
        in_vocabulary(REVERSE_VOCABULARY),
    log:
        LOGS / "train_reverse_vocabulary/{size}.log",
    benchmark:
        BENCHMARKS / "train_reverse_vocabulary/{size}.tsv"
    params:
        languages=LANGUAGE_PAIR[::-1],


if "architecture" in SCORER:

    use rule train_teacher as train_reverse_model with:
        input:
            corpora=[SCORING / "reversed.parquet"],
            validation=SCORING / "reversed_validation.parquet",
            vocabulary=vocabulary_of(SCORER["architecture"], reverse=True),
        output:
            directory(REVERSE_SCORER),
        log:
            LOGS / "train_reverse_model.log",
        benchmark:
            BENCHMARKS / "train_reverse_model.tsv"
        resources:
            **training_resources(lambda w: SCORER["architecture"], SCORER["training"]),
        params:
            kind="reverse_model",
            entry=ZOO[SCORER["architecture"]],
            training=training_in("source", SCORER["training"]),
            seed=config["seed"],
            tensorboard=str(LOGS / "tensorboard/reverse_model"),


if BACK_TEACHER:

    use rule check_teacher as check_reverse_teacher with:
        input:
            teacher=reverse_teacher_folders(),
            validation=VALIDATION,
        output:
            REVERSE_TEACHER_BLEU,
        log:
            LOGS / "check_reverse_teacher.log",
        benchmark:
            BENCHMARKS / "check_reverse_teacher.tsv"
        params:
            languages=languages_of(config, BACK_TEACHER, reverse=True),
            target=bleu_target("source"),
            side="target",


if "architecture" in BACK_TEACHER:

    use rule train_teacher as train_reverse_teacher with:
        input:
            corpora=[SCORING / "reversed.parquet"],
            validation=SCORING / "reversed_validation.parquet",
            vocabulary=vocabulary_of(BACK_TEACHER["architecture"], reverse=True),
        output:
            directory(REVERSE_TEACHER / "member-{member}"),
        log:
            LOGS / "train_reverse_teacher/{member}.log",
        benchmark:
            BENCHMARKS / "train_reverse_teacher/{member}.tsv"
        resources:
            **training_resources(
                lambda w: BACK_TEACHER["architecture"], BACK_TEACHER["training"]
            ),
        params:
            kind="reverse_teacher",
            entry=lambda w: member_of(ZOO[BACK_TEACHER["architecture"]], int(w.member)),
            training=training_in("source", BACK_TEACHER["training"]),
            tensorboard=str(LOGS / "tensorboard/reverse_teacher-{member}"),
