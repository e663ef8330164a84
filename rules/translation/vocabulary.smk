"""SentencePiece vocabularies for both languages together, one of each size that the experiment's models use."""

VOCABULARY_SETTINGS = {
    key: config["vocabulary"][key]
    for key in ("byte_fallback", "character_coverage", "normalizer")
    if key in config["vocabulary"]
}


rule train_vocabulary:
    """Train a SentencePiece model on both sides of the cleaned corpora."""
    input:
        corpora=selected(config["corpora"]),
    output:
        VOCABULARY / "{size}/vocab.spm",
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
