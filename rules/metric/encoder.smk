"""Encoders: trained on the experiment's text (by masked language modelling or from a teacher), or from the hub."""


rule make_tokenizer:
    """Train one tokenizer like XLM-R's for all encoders that are made here."""
    input:
        texts=present(config.get("texts", [])),
    output:
        directory(TOKENIZER),
    log:
        LOGS / "make_tokenizer.log",
    benchmark:
        BENCHMARKS / "make_tokenizer.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * vocabulary_memory(input),
    params:
        pieces=config["vocabulary"],
        # More sentences than for translators' vocabularies would need memory and time, and change little.
        sentences=min(config["sentences"], 2_000_000),
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/make_tokenizer.py"


rule pretrain_encoder:
    """Train a small XLM-R to predict masked pieces, or to imitate a larger encoder's attention."""
    input:
        texts=present(config.get("texts", [])),
        tokenizer=lambda w: pieces_of(w.encoder),
    output:
        directory(ENCODERS / "{encoder}"),
    log:
        LOGS / "pretrain_encoder/{encoder}.log",
    benchmark:
        BENCHMARKS / "pretrain_encoder/{encoder}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=lambda w, input, attempt: attempt
        * pretraining_memory(input.texts, config["sentences"]),
    params:
        settings=lambda w: without_by(config["encoders"][w.encoder]),
        accelerator=config["hardware"]["accelerator"],
        sentences=config["sentences"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/pretrain_encoder.py"


rule fetch_encoder:
    """Fetch an encoder from the hub by its name and commit."""
    output:
        directory(ENCODERS / "{encoder}"),
    log:
        LOGS / "fetch_encoder/{encoder}.log",
    benchmark:
        BENCHMARKS / "fetch_encoder/{encoder}.tsv"
    wildcard_constraints:
        encoder=either(FETCHED_ENCODERS),
    localrule: True  # cluster nodes rarely have a network
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        origin=lambda w: FETCHED_ENCODERS[w.encoder],
        places=PLACES,
    script:
        "../../workflow_scripts/hub/fetch_model.py"


ruleorder: fetch_encoder > pretrain_encoder
