"""Students: small models trained on the teacher's translations."""


rule train_student:
    """Train a student on its training text of distilled corpora (WNGT20 §3)."""
    input:
        corpora=training_text,
        validation=VALIDATION,
        vocabulary=lambda w: vocabulary_of(w.student),
    output:
        directory(MODELS / "{student}/unpruned/float32"),
    log:
        LOGS / "train_student/{student}.log",
    benchmark:
        BENCHMARKS / "train_student/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: training_threads()
    resources:
        **student_resources(),
    params:
        kind="student",
        entry=lambda w: entry_of(w.student),
        training=TRAINING,
        seed=lambda w: seed_of(w.student, config),
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/{student}"),
        encoded=str(ENCODED),
    script:
        "../../workflow_scripts/student/train_model.py"
