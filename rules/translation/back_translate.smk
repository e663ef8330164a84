"""Back-translation: text of the target language with the reverse teacher's translations as its source."""


use rule translate_shard as back_translate_shard with:
    input:
        corpus=lambda w: selected([w.corpus]),
        teacher=reverse_teacher_folders() if BACK_TEACHER else [],
        checked=ancient(REVERSE_TEACHER_BLEU),
    output:
        nbest=BACK_TRANSLATED / "{corpus}/shard-{shard}.parquet",
    log:
        LOGS / "back_translate_shard/{corpus}.{shard}.log",
    benchmark:
        BENCHMARKS / "back_translate_shard/{corpus}.{shard}.tsv"
    params:
        languages=languages_of(config, BACK_TEACHER, reverse=True),
        parallel=False,
        side="target",


use rule merge_corpus as merge_back_translated with:
    input:
        corpora=lambda w: selected([w.corpus]),
        shards=expand(
            BACK_TRANSLATED / "{{corpus}}/shard-{shard}.parquet", shard=SHARDS
        ),
    output:
        training=BACK_TRANSLATED / "{corpus}/merged.parquet",
    log:
        LOGS / "merge_back_translated/{corpus}.log",
    benchmark:
        BENCHMARKS / "merge_back_translated/{corpus}.tsv"
    params:
        side="target",


use rule select_corpus as select_back_translated with:
    input:
        corpus=BACK_TRANSLATED / "{corpus}/merged.parquet",
        scores=score_tables(BACK_TRANSLATED, "back_translation"),
    output:
        BACK_TRANSLATED / "{corpus}/selected.parquet",
    log:
        LOGS / "select_back_translated/{corpus}.log",
    benchmark:
        BENCHMARKS / "select_back_translated/{corpus}.tsv"
    params:
        scores=lambda w: scores_of(config, w.corpus, "back_translation"),
