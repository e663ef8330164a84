"""Students trained on the corpora after each stage of cleaning, to measure the effect of cleaning."""

CLEANING_STUDENT = config["evaluation"]["cleaning"]["student"]
CLEANING_STUDENTS = RESULTS / "cleaning_students"


wildcard_constraints:
    stage=either(STAGES),


rule cleaning_stage:
    """Write the pairs that a stage of cleaning keeps."""
    input:
        corpora=selected(PARALLEL),
        held_out=(
            HELD_OUT
            if any(cleaning_of(corpus)["remove_test_overlap"] for corpus in PARALLEL)
            else []
        ),
    output:
        CLEANING_STUDENTS / "{stage}/pairs.parquet",
    log:
        LOGS / "cleaning_stage/{stage}.log",
    benchmark:
        BENCHMARKS / "cleaning_stage/{stage}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        languages=LANGUAGE_PAIR,
        rules=[cleaning_of(corpus)["rules"] for corpus in PARALLEL],
        punctuation=CLEANING.get("punctuation"),
    script:
        "../../workflow_scripts/evaluate/cleaning_stage.py"


use rule train_student as train_on_stage with:
    input:
        corpora=[CLEANING_STUDENTS / "{stage}/pairs.parquet"],
        validation=VALIDATION,
        vocabulary=vocabulary_of(CLEANING_STUDENT),
    output:
        directory(CLEANING_STUDENTS / "{stage}/model"),
    log:
        LOGS / "train_on_stage/{stage}.log",
    benchmark:
        BENCHMARKS / "train_on_stage/{stage}.tsv"
    resources:
        **training_resources(lambda wildcards: CLEANING_STUDENT, config["training"]),
    params:
        kind="student",
        entry=ZOO[CLEANING_STUDENT],
        training={**TRAINING, "guided_alignment": 0.0, "stages": []},
        seed=config["seed"],
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/cleaning-{stage}"),


use rule translate_test_set as translate_by_stage with:
    input:
        model=CLEANING_STUDENTS / "{stage}/model",
        test_set=TEST_SETS / "{test_set}.parquet",
    output:
        CLEANING_STUDENTS / "{stage}/{test_set}.txt",
    log:
        LOGS / "translate_by_stage/{stage}.{test_set}.log",
    benchmark:
        BENCHMARKS / "translate_by_stage/{stage}.{test_set}.tsv"
    params:
        search={"beam": 1, "batch_size": BATCH_SIZE},
        accelerator=config["hardware"]["accelerator"],


rule cleaning_students:
    """Compare the student of each stage of cleaning by BLEU with the student of the uncleaned corpora."""
    input:
        pairs=expand(
            CLEANING_STUDENTS / "{stage}/pairs.parquet", stage=cleaning_stages()
        ),
        translations=expand(
            CLEANING_STUDENTS / "{stage}/{test_set}.txt",
            stage=cleaning_stages(),
            test_set=config["test_sets"],
        ),
        test_sets=TEST_TABLES,
    output:
        **table_files(
            TABLES,
            "cleaning_students",
            "1 Corpora",
            "What cleaning is worth",
            "cleaning_students",
        ),
    log:
        LOGS / "cleaning_students.log",
    benchmark:
        BENCHMARKS / "cleaning_students.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        student=CLEANING_STUDENT,
        stages=cleaning_stages(),
        test_sets=list(config["test_sets"]),
        damaged=any(entry.get("noise") for entry in config["corpora"].values()),
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/evaluate/cleaning_students.py"
