"""Distillation of small metrics from the ensemble of references (COMETINHO §5)."""


rule select_pairs:
    """Select parallel pairs for distillation, and separate pairs for training translators."""
    input:
        files=lambda w: present(
            [
                PAIRS[w.pairs][key]
                for key in ("table", "source", "target")
                if key in PAIRS[w.pairs]
            ]
        ),
    output:
        pairs=DISTILLATION / "{pairs}/pairs.parquet",
        training=DISTILLATION / "{pairs}/translators/training.parquet",
        validation=DISTILLATION / "{pairs}/translators/validation.parquet",
    log:
        LOGS / "select_pairs/{pairs}.log",
    benchmark:
        BENCHMARKS / "select_pairs/{pairs}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
    params:
        entry=lambda w: PAIRS[w.pairs],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/select_pairs.py"


rule translator_vocabulary:
    """Train the vocabulary of the translators that are trained here."""
    input:
        corpora=[DISTILLATION / "{pairs}/translators/training.parquet"],
    output:
        DISTILLATION / "{pairs}/translators/{size}/vocab.spm",
    log:
        LOGS / "translator_vocabulary/{pairs}.{size}.log",
    benchmark:
        BENCHMARKS / "translator_vocabulary/{pairs}.{size}.tsv"
    wildcard_constraints:
        size="[0-9]+",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
    params:
        seed=config["seed"],
        settings={},
        languages=None,
        punctuation=None,
    script:
        "../../workflow_scripts/vocabulary/train_vocabulary.py"


rule train_translator:
    """Train a translator for some pairs, strong or weak depending on its settings."""
    input:
        corpora=[DISTILLATION / "{pairs}/translators/training.parquet"],
        validation=DISTILLATION / "{pairs}/translators/validation.parquet",
        vocabulary=lambda w: [
            DISTILLATION
            / w.pairs
            / "translators"
            / str(PAIRS[w.pairs]["translators"]["vocabulary"])
            / "vocab.spm"
        ],
    output:
        directory(DISTILLATION / "{pairs}/translators/{translation}"),
    log:
        LOGS / "train_translator/{pairs}.{translation}.log",
    benchmark:
        BENCHMARKS / "train_translator/{pairs}.{translation}.tsv"
    wildcard_constraints:
        translation=either(
            name for (_, name), how in TRANSLATORS.items() if how["by"] == "training"
        ),
    conda:
        "../../envs/main.yaml"
    threads: training_threads()
    resources:
        **accelerators(config["hardware"]["devices"]),
        mem_mb=growing(6000),
    params:
        kind="translator",
        entry=lambda w: ZOO[TRANSLATORS[w.pairs, w.translation]["architecture"]],
        training=lambda w: {
            **TRANSLATORS[w.pairs, w.translation]["training"],
            "language": PAIRS[w.pairs]["languages"]["target"],
        },
        seed=config["seed"],
        hardware=config["hardware"],
        tensorboard=str(LOGS / "tensorboard/{pairs}-{translation}"),
    script:
        "../../workflow_scripts/student/train_model.py"


use rule fetch_encoder as fetch_translator with:
    output:
        directory(DISTILLATION / "hugging_face/{model}"),
    log:
        LOGS / "fetch_translator/{model}.log",
    benchmark:
        BENCHMARKS / "fetch_translator/{model}.tsv"
    params:
        origin=lambda w: FETCHED_TRANSLATORS[w.model],


rule translate_pairs:
    """Translate a shard with the model of a step."""
    input:
        corpus=step_input,
        teacher=lambda w: translator_of(w.pairs, w.translation, w.step),
    output:
        nbest=DISTILLATION / "{pairs}/{translation}/{step}/shard-{shard}.parquet",
    log:
        LOGS / "translate_pairs/{pairs}.{translation}.{step}.{shard}.log",
    benchmark:
        BENCHMARKS / "translate_pairs/{pairs}.{translation}.{step}.{shard}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(6000),
    params:
        search={"beam": TRANSLATION["beam"]},
        precision=TRANSLATION["precision"],
        languages=lambda w: translator_languages(w.pairs, w.translation, w.step),
        target="",  # no references: the most probable translation is selected
        accelerator=config["hardware"]["accelerator"],
        shards=len(PAIR_SHARDS),
        parallel=False,
        side=lambda w: step_side(w.step),
    script:
        "../../workflow_scripts/distil/translate_shard.py"


rule merge_pairs:
    """Merge a step's translations of all shards; each shard is verified against its input."""
    input:
        corpora=lambda w: [step_input(w)],
        shards=expand(
            DISTILLATION / "{{pairs}}/{{translation}}/{{step}}/shard-{shard}.parquet",
            shard=PAIR_SHARDS,
        ),
    output:
        training=DISTILLATION / "{pairs}/{translation}/{step}/merged.parquet",
    log:
        LOGS / "merge_pairs/{pairs}.{translation}.{step}.log",
    benchmark:
        BENCHMARKS / "merge_pairs/{pairs}.{translation}.{step}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        shards=len(PAIR_SHARDS),
        side=lambda w: step_side(w.step),
        may_be_empty=False,
    script:
        "../../workflow_scripts/distil/merge_distilled.py"


rule join_translations:
    """Write source, translation and reference, with a row for each different translation of a pair."""
    input:
        pairs=DISTILLATION / "{pairs}/pairs.parquet",
        translations=lambda w: [table for table, _ in last_steps(w.pairs)],
    output:
        DISTILLATION / "{pairs}/tuples.parquet",
    log:
        LOGS / "join_translations/{pairs}.log",
    benchmark:
        BENCHMARKS / "join_translations/{pairs}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
    params:
        columns=lambda w: [column for _, column in last_steps(w.pairs)],
    script:
        "../../workflow_scripts/metric/join_translations.py"


rule score_corpus:
    """Score the translated rows by the ensemble of references."""
    input:
        corpus=DISTILLATION / "{pairs}/tuples.parquet",
        models=members(),
    output:
        DISTILLATION / "{pairs}/scored.parquet",
    log:
        LOGS / "score_corpus/{pairs}.log",
    benchmark:
        BENCHMARKS / "score_corpus/{pairs}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        precision=config["evaluation"]["precision"],
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/metric/score_corpus.py"


rule split_scored:
    """Split all scored rows into training and validation tables that share no source."""
    input:
        expand(DISTILLATION / "{pairs}/scored.parquet", pairs=PAIRS),
    output:
        training=DISTILLATION / "training.parquet",
        validation=DISTILLATION / "validation.parquet",
    log:
        LOGS / "split_scored.log",
    benchmark:
        BENCHMARKS / "split_scored.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    params:
        validation_share=config["distillation"]["validation_share"],
    script:
        "../../workflow_scripts/metric/split_scored.py"


rule train_distilled:
    """Train a small metric on the ensemble's scores."""
    input:
        training=DISTILLATION / "training.parquet",
        validation=DISTILLATION / "validation.parquet",
        encoder=lambda w: encoder_of(DISTILLED[w.distilled]),
        environment=environment_of("comet"),
    output:
        directory(MODELS / "{distilled}"),
    log:
        LOGS / "train_distilled/{distilled}.log",
    benchmark:
        BENCHMARKS / "train_distilled/{distilled}.tsv"
    wildcard_constraints:
        distilled=either(DISTILLED),
    conda:
        "../../envs/comet.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        settings=json.dumps(config["distillation"]["training"]),
        seed=config["seed"],
        versions=versions_of("comet"),
        accelerator=config["hardware"]["accelerator"],
    shell:
        TRAIN_REGRESSION
