"""Lexical shortlists, if they are configured, and measurements of their coverage and cost."""


rule make_shortlist:
    """Align the distilled corpus on the pieces of a vocabulary and keep each piece's best translations."""
    input:
        corpus=student_text(),
        vocabulary=in_vocabulary(VOCABULARY),
    output:
        SHORTLISTS / "{size}/shortlist.safetensors",
    log:
        LOGS / "make_shortlist/{size}.log",
    benchmark:
        BENCHMARKS / "make_shortlist/{size}.tsv"
    priority: 2  # takes seconds, but otherwise waits for two cores until trainings have ended
    conda:
        "../../envs/main.yaml"
    # One thread for each direction of the alignment, unless this takes only a moment.
    threads: 2 if config["shortlist"]["pairs"] > 100_000 else 1
    resources:
        mem_mb=lambda w, attempt: attempt
        * alignment_memory(config["shortlist"]["pairs"]),
    params:
        shortlist=config["shortlist"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/shortlist/make_shortlist.py"


rule measure_shortlist:
    """Measure the coverage of a variant's shortlist, and BLEU with and without it."""
    input:
        model=MODELS / "{student}/{recipe}/{precision}",
        shortlist=lambda w: shortlist_of(w.student),
        translations=lambda w: translations_of(w.student, w.recipe, w.precision),
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "shortlist/{student}/{recipe}/{precision}.json",
    log:
        LOGS / "measure_shortlist/{student}.{recipe}.{precision}.log",
    benchmark:
        BENCHMARKS / "measure_shortlist/{student}.{recipe}.{precision}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        variant="{student}/{recipe}/{precision}",
        search=lambda w: MEASURED[w.student, w.recipe, w.precision],
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
        seed=config["seed"],
    script:
        "../../workflow_scripts/shortlist/measure_shortlist.py"
