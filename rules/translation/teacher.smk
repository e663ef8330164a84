"""Teacher: an ensemble trained here, or an existing Hugging Face model."""

TEACHER_TRAINING = training_in("target", config["teacher"]["training"])
TEACHER_HARDWARE = config["hardware"] | {
    "threads": config["teacher"].get("threads") or process_threads()
}


rule fetch_model:
    """Fetch a Hugging Face model by its name on the hub, and check that it supports the languages."""
    output:
        directory(HUGGING_FACE / "{model}"),
    log:
        LOGS / "fetch_model/{model}.log",
    benchmark:
        BENCHMARKS / "fetch_model/{model}.tsv"
    localrule: True  # cluster nodes rarely have a network
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        origin=lambda w: hub_models(config)[w.model],
        translations=unrecorded(lambda w: translations_by(hub_models(config)[w.model])),
        places=PLACES,
    script:
        "../../workflow_scripts/teacher/fetch_model.py"


rule train_teacher:
    """Train one member of the teacher ensemble on the cleaned parallel corpora and any back-translated text."""
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
        "../../envs/main.yaml"
    threads: config["hardware"]["devices"] * TEACHER_HARDWARE["threads"]
    resources:
        **training_resources(
            lambda wildcards: config["teacher"]["architecture"], TEACHER_TRAINING
        ),
    params:
        kind="teacher",
        entry=lambda w: member_of(ZOO[config["teacher"]["architecture"]], int(w.member)),
        training=TEACHER_TRAINING,
        seed=lambda w: config["seed"] + int(w.member),
        hardware=TEACHER_HARDWARE,
        tensorboard=str(LOGS / "tensorboard/teacher-{member}"),
        encoded=str(ENCODED),
    script:
        "../../workflow_scripts/student/train_model.py"


rule check_teacher:
    """Measure the teacher's BLEU on the validation set, and stop the run if it is too low to train students."""
    input:
        teacher=teacher_folders(),
        validation=VALIDATION,
    output:
        TEACHER_BLEU,
    log:
        LOGS / "check_teacher.log",
    benchmark:
        BENCHMARKS / "check_teacher.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **search_resources(),
    params:
        languages=languages_of(config, config["teacher"], reverse=False),
        target=bleu_target("target"),
        side="source",
        # If this key changes, the translations of a checked teacher remain valid.
        least_bleu=unrecorded(lambda w: config["distillation"]["min_teacher_bleu"]),
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/teacher/check_teacher.py"
