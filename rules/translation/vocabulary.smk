"""SentencePiece vocabularies, joint or one for each language, in all sizes that the experiment's models use."""

VOCABULARY_SETTINGS = {
    key: config["vocabulary"][key]
    for key in ("byte_fallback", "character_coverage", "normalizer")
    if key in config["vocabulary"]
}

VOCABULARY_TEXT = config["corpora"]
if config["vocabulary"]["text"] == "parallel" and PARALLEL:
    VOCABULARY_TEXT = PARALLEL


rule train_vocabulary:
    """Train a SentencePiece model on both sides of the cleaned corpora, or one on each side."""
    input:
        corpora=selected(VOCABULARY_TEXT),
    output:
        in_vocabulary(VOCABULARY),
    log:
        LOGS / "train_vocabulary/{size}.log",
    benchmark:
        BENCHMARKS / "train_vocabulary/{size}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * vocabulary_memory(input),
    params:
        seed=config["seed"],
        settings=VOCABULARY_SETTINGS,
        languages=LANGUAGE_PAIR,
        punctuation=CLEANING.get("punctuation"),
    script:
        "../../workflow_scripts/vocabulary/train_vocabulary.py"
