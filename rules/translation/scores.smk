"""Scores of the corpora and of the distilled text, and the selection of rows by scores (WNGT20 §3, WMT21 §2)."""

LANGUAGE_MODEL = config["scoring"]["language_model"]
LEXICAL = config["scoring"].get("lexical_translation", {})
LABELLED = SCORING / "labelled"
DAMAGED_PAIRS = SCORING / "damaged"
COMPONENTS = components(config)  # components of the combined score


wildcard_constraints:
    scored="corpora/[^/]+|(back_translated|distilled)/[^/]+|scoring/(labelled|damaged)",


rule language_model:
    """Estimate a modified Kneser-Ney language model of one side (KenLM)."""
    input:
        text=language_model_text,
    output:
        SCORING / "language_models/{side}.klm",
    log:
        LOGS / "language_model/{side}.log",
    benchmark:
        BENCHMARKS / "language_model/{side}.tsv"
    wildcard_constraints:
        side="source|target",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        # Memory for sorting, for the drawn lines, and for the finished model.
        mem_mb=lambda w, input, attempt: attempt
        * language_model_memory(LANGUAGE_MODEL, input),
    params:
        from_corpora=lambda w: f"{w.side}_text" not in LANGUAGE_MODEL,
        order=LANGUAGE_MODEL["order"],
        memory=f"{LANGUAGE_MODEL['memory_mb']}M",
        sentences=LANGUAGE_MODEL["sentences"],
        prune=LANGUAGE_MODEL["prune"],
        quantized=LANGUAGE_MODEL["quantized"],
        seed=config["seed"],
        language=lambda w: config["languages"][w.side],
        decode_entities=CLEANING["rules"]["decode_entities"],
        punctuation=CLEANING.get("punctuation"),
    script:
        "../../workflow_scripts/scores/language_model.py"


rule score_by_language_model:
    """Compute the cross-entropy per word of one side of every kept row of a text."""
    input:
        corpus=scored_text,
        model=SCORING / "language_models/{side}.klm",
    output:
        directory(RESULTS / "{scored}/scores/language_model_{side}"),
    log:
        LOGS / "score_by_language_model/{scored}.{side}.log",
    benchmark:
        BENCHMARKS / "score_by_language_model/{scored}.{side}.tsv"
    wildcard_constraints:
        side="source|target",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * scoring_memory([input.model]),
    params:
        score=lambda w: f"language_model_{w.side}",
    script:
        "../../workflow_scripts/scores/score.py"


rule lexical_translation:
    """Count translations of words in aligned parallel text."""
    input:
        unpack(lexical_translation_text),
    output:
        SCORING / "lexical_translation.parquet",
    log:
        LOGS / "lexical_translation.log",
    benchmark:
        BENCHMARKS / "lexical_translation.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 2  # one for each direction of the alignment
    resources:
        mem_mb=lambda w, attempt: attempt * alignment_memory(LEXICAL["pairs"]),
    params:
        pairs=LEXICAL.get("pairs"),
        seed=config["seed"],
        languages=LANGUAGE_PAIR,
        decode_entities=CLEANING["rules"]["decode_entities"],
        punctuation=CLEANING.get("punctuation"),
    script:
        "../../workflow_scripts/scores/lexical_translation.py"


use rule score_by_language_model as score_by_lexical_translation with:
    input:
        corpus=scored_text,
        model=rules.lexical_translation.output[0],
    output:
        directory(RESULTS / "{scored}/scores/lexical_translation"),
    log:
        LOGS / "score_by_lexical_translation/{scored}.log",
    benchmark:
        BENCHMARKS / "score_by_lexical_translation/{scored}.tsv"
    resources:
        # The dictionaries and arrays in memory are larger than the packed file.
        mem_mb=lambda w, input, attempt: attempt * 20 * scoring_memory([input.model]),
    params:
        score="lexical_translation",


rule score_by_reverse_model:
    """Compute the mean log probability of the source given the target, for every kept row of a text (WNGT20 §3)."""
    input:
        corpus=scored_text,
        model=reverse_scorer(),
    output:
        directory(RESULTS / "{scored}/scores/reverse_model"),
    log:
        LOGS / "score_by_reverse_model/{scored}.log",
    benchmark:
        BENCHMARKS / "score_by_reverse_model/{scored}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=lambda w, input, attempt: attempt * search_memory(input.model),
    params:
        languages=languages_of(config, SCORER or BACK_TEACHER, reverse=False),
        precision=config["distillation"]["precision"],
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/scores/score_by_reverse_model.py"


rule measure_filters:
    """Measure precision, recall and ROC-AUC of every filter and score on pairs labelled by people."""
    input:
        labelled=LABELLED / "pairs.parquet",
        language_id=LANGUAGE_ID_MODEL,
        scores=expand(LABELLED / "scores/{score}", score=COMPONENTS),
    output:
        **table_files(
            TABLES,
            "filters",
            "1 Corpora",
            "Cleaning measured on labelled pairs",
            "filters",
        ),
    log:
        LOGS / "measure_filters.log",
    benchmark:
        BENCHMARKS / "measure_filters.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        scores=COMPONENTS,
        languages=LANGUAGE_PAIR,
        rules=CLEANING["rules"],
        language_id=CLEANING.get("language_id"),
        seed=config["seed"],
        resamples=config["evaluation"]["bootstrap"],
        folder=lambda w, output: Path(output[0]).parent.as_posix(),
    script:
        "../../workflow_scripts/scores/measure_filters.py"


rule import_damaged:
    """Import pairs of the corpora with injected damage as a text that can be scored."""
    input:
        corpora=expand(CORPORA / "{corpus}/cleaned", corpus=damaged()),
    output:
        DAMAGED_PAIRS / "pairs.parquet",
    log:
        LOGS / "import_damaged.log",
    benchmark:
        BENCHMARKS / "import_damaged.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        seed=config["seed"],
    script:
        "../../workflow_scripts/scores/import_damaged.py"


use rule measure_filters as measure_filters_on_damage with:
    input:
        labelled=DAMAGED_PAIRS / "pairs.parquet",
        language_id=LANGUAGE_ID_MODEL,
        scores=expand(DAMAGED_PAIRS / "scores/{score}", score=COMPONENTS),
    output:
        **table_files(
            TABLES,
            "filters_damage",
            "1 Corpora",
            "Cleaning measured on injected damage",
            "filters",
        ),
    log:
        LOGS / "measure_filters_on_damage.log",
    benchmark:
        BENCHMARKS / "measure_filters_on_damage.tsv"


if "labelled" in config["evaluation"]:

    rule import_labelled:
        """Import the pairs that people labelled, as a text that can be scored."""
        input:
            present([config["evaluation"]["labelled"]["table"]]),
        output:
            LABELLED / "pairs.parquet",
        log:
            LOGS / "import_labelled.log",
        benchmark:
            BENCHMARKS / "import_labelled.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        params:
            columns=config["evaluation"]["labelled"]["columns"],
            languages=LANGUAGE_PAIR,
            decode_entities=CLEANING["rules"]["decode_entities"],
            punctuation=CLEANING.get("punctuation"),
        script:
            "../../workflow_scripts/scores/import_labelled.py"

    rule combine_scores:
        """Fit the weights of the combined score (one for each score and feature) to the labels."""
        input:
            labelled=rules.import_labelled.output,
            scores=rules.measure_filters.input.scores,
        output:
            SCORING / "combination.json",
        log:
            LOGS / "combine_scores.log",
        benchmark:
            BENCHMARKS / "combine_scores.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        params:
            scores=COMPONENTS,
            languages=LANGUAGE_PAIR,
        script:
            "../../workflow_scripts/scores/combine_scores.py"

    rule score_combined:
        """Compute the combined score of every kept row of a text from its other scores and its features."""
        input:
            corpus=scored_text,
            model=rules.combine_scores.output[0],
            beside=lambda w: expand(
                RESULTS / w.scored / "scores/{score}", score=COMPONENTS
            ),
        output:
            directory(RESULTS / "{scored}/scores/combined"),
        log:
            LOGS / "score_combined/{scored}.log",
        benchmark:
            BENCHMARKS / "score_combined/{scored}.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        params:
            components=COMPONENTS,
            languages=LANGUAGE_PAIR,
        script:
            "../../workflow_scripts/scores/score_combined.py"


rule select_corpus:
    """Join a corpus and its scores, and record for every dropped row the first score that drops it."""
    input:
        corpus=CORPORA / "{corpus}/cleaned",
        scores=score_tables(CORPORA, "cleaning"),
    output:
        directory(CORPORA / "{corpus}/selected"),
    log:
        LOGS / "select_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "select_corpus/{corpus}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        scores=lambda w: scores_of(config, w.corpus, "cleaning"),
    script:
        "../../workflow_scripts/scores/select.py"


use rule select_corpus as select_distilled with:
    input:
        corpus=DISTILLED / "{corpus}/merged.parquet",
        scores=score_tables(DISTILLED, "distillation"),
    output:
        DISTILLED / "{corpus}/selected.parquet",
    log:
        LOGS / "select_distilled/{corpus}.log",
    benchmark:
        BENCHMARKS / "select_distilled/{corpus}.tsv"
    params:
        scores=lambda w: scores_of(config, w.corpus, "distillation"),
