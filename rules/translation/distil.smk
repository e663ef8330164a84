"""Training text of the students: the teacher's translations of every corpus."""

SHARDS = range(config["distillation"]["shards"])


# True if the only training text is the translations of the corpora, without selection, so that one job merges all.
MERGED_AT_ONCE = not (
    config["distillation"]["scores"]
    or config["distillation"]["training_texts"]
    or corpora_of(config, "backward")
)


# Search settings of each corpus: parallel text n-best, monolingual text 1-best.
DISTILLATION = config["distillation"]
DISTILLATION_SEARCH = {
    name: {
        "beam": DISTILLATION["beam" if name in PARALLEL else "monolingual_beam"],
        "nbest": DISTILLATION["beam"] if name in PARALLEL else 1,
        "length_normalisation": DISTILLATION["length_normalisation"],
        "max_source_tokens": DISTILLATION["max_source_tokens"],
    }
    for name in config["corpora"]
}


rule translate_shard:
    """Translate a shard n-best with the teacher, and mark the translations for training students."""
    input:
        corpus=lambda w: distillable([w.corpus]),
        teacher=teacher_folders(),
        # Its age is ignored: a changed teacher translates again, but a repeated check has no effect.
        checked=ancient(TEACHER_BLEU),
    output:
        nbest=DISTILLED / "{corpus}/shard-{shard}.parquet",
    log:
        LOGS / "translate_shard/{corpus}.{shard}.log",
    benchmark:
        BENCHMARKS / "translate_shard/{corpus}.{shard}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **search_resources("teacher"),
    params:
        search=lambda w: DISTILLATION_SEARCH[w.corpus],
        precision=DISTILLATION["precision"],
        languages=languages_of(config, config["teacher"], reverse=False),
        target=bleu_target("target"),  # determines the tokens for comparison with the reference
        accelerator=config["hardware"]["accelerator"],
        shards=len(SHARDS),
        parallel=lambda w: w.corpus in PARALLEL,
        side="source",
    script:
        "../../workflow_scripts/distil/translate_shard.py"


rule merge_corpus:
    """Merge a corpus with its selected translations; each shard is verified against the corpus."""
    input:
        corpora=lambda w: distillable([w.corpus]),
        shards=expand(DISTILLED / "{{corpus}}/shard-{shard}.parquet", shard=SHARDS),
    output:
        training=DISTILLED / "{corpus}/merged.parquet",
    log:
        LOGS / "merge_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "merge_corpus/{corpus}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        shards=len(SHARDS),
        side="source",
        may_be_empty=True,  # one of several corpora; join_distilled checks all together
        max_repeats=DISTILLATION["max_repeats"],
    script:
        "../../workflow_scripts/distil/merge_distilled.py"


if MERGED_AT_ONCE:

    use rule merge_corpus as merge_distilled with:
        input:
            corpora=selected(config["corpora"]),
            shards=expand(
                DISTILLED / "{corpus}/shard-{shard}.parquet",
                corpus=config["corpora"],
                shard=SHARDS,
            ),
        output:
            training=DISTILLED / "training.parquet",
        log:
            LOGS / "merge_distilled.log",
        benchmark:
            BENCHMARKS / "merge_distilled.tsv"
        params:
            may_be_empty=False,

else:

    rule join_distilled:
        """Join a training text from the distilled corpora of its kinds, with the rows that their scores keep."""
        input:
            corpora=lambda w: joined(w.text),
        output:
            training=DISTILLED / "training{text}.parquet",
        log:
            LOGS / "join_distilled{text}.log",
        benchmark:
            BENCHMARKS / "join_distilled{text}.tsv"
        wildcard_constraints:
            text="|@[^/]+",
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        script:
            "../../workflow_scripts/distil/join_distilled.py"
