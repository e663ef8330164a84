"""Text, divided into parts, and the initial models of the pipelines, made here or from the Hugging Face hub."""

MADE = [name for name, section in config["models"].items() if section["by"] == "making"]
FETCHED_MODELS = fetched(config["models"])


rule import_text:
    """Import articles with summaries, or running text, in parts for training, validation and test."""
    input:
        lambda w: present(
            entry[key]
            for part in ("train", "validation", "test")
            for entry in config["data"][w.data][part]
            for key in ("path", "folder")
            if key in entry
        ),
    output:
        directory(DATA / "{data}"),
    log:
        LOGS / "import_text/{data}.log",
    benchmark:
        BENCHMARKS / "import_text/{data}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    params:
        settings=lambda w: config["data"][w.data],
        places=PLACES,
    script:
        "../../workflow_scripts/generation/import_text.py"


rule make_generator:
    """Pre-train a small model with the architecture of BART or GPT-2, and its tokenizer, on the training text."""
    input:
        data=lambda w: pretraining_text(w.model),
    output:
        directory(MODELS / "{model}/model"),
    log:
        LOGS / "make_generator/{model}.log",
    benchmark:
        BENCHMARKS / "make_generator/{model}.tsv"
    wildcard_constraints:
        model=either(MADE),
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(4000),
    params:
        settings=lambda w: config["models"][w.model],
        seed=config["seed"],
        hardware=config["hardware"],
    script:
        "../../workflow_scripts/generation/make_generator.py"


rule fetch_generator:
    """Fetch a model from the hub by its name and commit."""
    output:
        directory(MODELS / "{model}/model"),
    log:
        LOGS / "fetch_generator/{model}.log",
    benchmark:
        BENCHMARKS / "fetch_generator/{model}.tsv"
    wildcard_constraints:
        model=either(FETCHED_MODELS),
    localrule: True  # cluster nodes rarely have a network
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        origin=lambda w: FETCHED_MODELS[w.model],
        places=PLACES,
    script:
        "../../workflow_scripts/hub/fetch_model.py"
