"""Measurements of every variant: ROUGE or perplexity, bytes, and time."""


rule summarize_test_set:
    """Summarize the test articles with a variant."""
    input:
        model=lambda w: folder_of(w.variant),
        data=lambda w: data_of(model_of(w.variant)),
    output:
        SUMMARIES / "{variant}.jsonl",
    log:
        LOGS / "summarize_test_set/{variant}.log",
    benchmark:
        BENCHMARKS / "summarize_test_set/{variant}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(6000),
    params:
        search=config["evaluation"]["search"],
        max_source=lambda w: lengths_of(model_of(w.variant))["max_source"],
        prefix=lambda w: lengths_of(model_of(w.variant)).get("prefix", ""),
        hardware=config["hardware"],
    script:
        "../../workflow_scripts/generation/summarize.py"


rule measure_summaries:
    """Compute ROUGE of a variant's summaries, with bootstrap intervals."""
    input:
        summaries=SUMMARIES / "{variant}.jsonl",
        model=lambda w: folder_of(w.variant),
        data=lambda w: data_of(model_of(w.variant)),
    output:
        QUALITY / "{variant}.json",
    log:
        LOGS / "measure_summaries/{variant}.log",
    benchmark:
        BENCHMARKS / "measure_summaries/{variant}.tsv"
    wildcard_constraints:
        variant=f"({either(SUMMARIZERS)})/.+",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    params:
        accelerator=config["hardware"]["accelerator"],
        data=lambda w: config["models"][model_of(w.variant)]["data"],
        search=config["evaluation"]["search"],
        max_source=lambda w: lengths_of(model_of(w.variant))["max_source"],
        prefix=lambda w: lengths_of(model_of(w.variant)).get("prefix", ""),
        resamples=config["evaluation"]["resamples"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/generation/measure_summaries.py"


rule measure_lead:
    """Compute ROUGE of the articles' beginnings, with the greatest length of a model's summaries."""
    input:
        model=lambda w: folder_of(w.model),
        data=lambda w: data_of(w.model),
    output:
        LEADS / "{model}.json",
    log:
        LOGS / "measure_lead/{model}.log",
    benchmark:
        BENCHMARKS / "measure_lead/{model}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    params:
        data=lambda w: config["models"][w.model]["data"],
        tokens=config["evaluation"]["search"]["max_tokens"],
        resamples=config["evaluation"]["resamples"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/generation/measure_lead.py"


rule measure_perplexity:
    """Compute the perplexity of the test text in strided windows, with bootstrap intervals."""
    input:
        model=lambda w: folder_of(w.variant),
        data=lambda w: data_of(model_of(w.variant)),
    output:
        QUALITY / "{variant}.json",
    log:
        LOGS / "measure_perplexity/{variant}.log",
    benchmark:
        BENCHMARKS / "measure_perplexity/{variant}.tsv"
    wildcard_constraints:
        variant=f"({either(LANGUAGE_MODELS)})/.+",
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(6000),
    params:
        data=lambda w: config["models"][model_of(w.variant)]["data"],
        perplexity=config["evaluation"]["perplexity"],
        resamples=config["evaluation"]["resamples"],
        seed=config["seed"],
        hardware=config["hardware"],
    script:
        "../../workflow_scripts/generation/measure_perplexity.py"


rule measure_generation_size:
    """Count a variant's bytes and parameters."""
    input:
        model=lambda w: folder_of(w.variant),
    output:
        SIZES / "{variant}.json",
    log:
        LOGS / "measure_generation_size/{variant}.log",
    benchmark:
        BENCHMARKS / "measure_generation_size/{variant}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../../workflow_scripts/generation/measure_size.py"


rule measure_generation_speed:
    """Measure seconds per example and token at fixed lengths, and memory, of all variants of a model in turn."""
    input:
        models=lambda w: [
            path for name in variants_of(config, w.model) for path in folder_of(name)
        ],
        data=lambda w: data_of(w.model),
    output:
        SPEEDS / "{model}.json",
    log:
        LOGS / "measure_generation_speed/{model}.log",
    benchmark:
        BENCHMARKS / "measure_generation_speed/{model}.tsv"
    conda:
        "../../envs/main.yaml"
    # Take all of --cores, so that nothing else runs meanwhile; a cluster job has one process's threads.
    threads: lambda w: workflow.cores if workflow.local_exec else process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(12000),
    params:
        variants=lambda w: variants_of(config, w.model),
        speed=config["evaluation"]["speed"],
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/generation/measure_speed.py"
