"""Encoders by masked language modelling on the experiment's text, or from the Hugging Face hub."""


rule make_tokenizer:
    """One tokenizer of XLM-R's kind for all encoders that are made here."""
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
        # More than translators' vocabularies are of would need memory and time, and change little.
        sentences=min(config["sentences"], 2_000_000),
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/make_tokenizer.py"


rule pretrain_encoder:
    """A small XLM-R, pre-trained to tell masked pieces."""
    input:
        texts=present(config.get("texts", [])),
        tokenizer=TOKENIZER,
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
        device="cuda" if config["hardware"]["accelerator"] == "gpu" else "cpu",
        sentences=config["sentences"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/metric/pretrain_encoder.py"


rule fetch_encoder:
    """An encoder of the hub by its name and commit."""
    output:
        directory(ENCODERS / "{encoder}"),
    log:
        LOGS / "fetch_encoder/{encoder}.log",
    benchmark:
        BENCHMARKS / "fetch_encoder/{encoder}.tsv"
    wildcard_constraints:
        encoder="|".join(FETCHED_ENCODERS) or "none",
    localrule: True  # the nodes of a cluster seldom have a network
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
