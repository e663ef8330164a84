"""The teacher: an ensemble trained here, or a Hugging Face model that is there already."""

TEACHER_TRAINING = config["teacher"]["training"]


rule train_teacher:
    """Train one member of the teacher ensemble on the cleaned parallel corpora, and perhaps on back-translated text."""
    input:
        corpora=[*selected(PARALLEL), *teacher_back_translations()],
        validation=VALIDATION,
        vocabulary=lambda w: vocabulary_of(config["teacher"]["architecture"]),
    output:
        directory(TEACHER / "member-{member}"),
    log:
        LOGS / "train_teacher/{member}.log",
    benchmark:
        BENCHMARKS / "train_teacher/{member}.tsv"
    conda:
        "../envs/main.yaml"
    threads: training_threads()
    resources:
        **training_resources(
            lambda wildcards: config["teacher"]["architecture"], TEACHER_TRAINING
        ),
    params:
        kind="teacher",
        entry=lambda w: member_of(ZOO[config["teacher"]["architecture"]], int(w.member)),
        training=TEACHER_TRAINING,
        seed=lambda w: config["seed"] + int(w.member),
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/teacher-{member}"),
        code=code_version("translation", "products", "corpus.table"),
    script:
        "../workflow_scripts/student/train_model.py"
