"""Published student: its import, smaller vocabularies, and the students and aligned text made from it."""


ruleorder: cut_vocabulary > train_vocabulary
ruleorder: import_student > train_student
ruleorder: align_by_published > align_text


if "files" in config["published"]:

    rule fetch_published:
        """Fetch the files of a published student by their addresses, and check them."""
        output:
            directory(PUBLISHED / "files"),
        log:
            LOGS / "fetch_published.log",
        benchmark:
            BENCHMARKS / "fetch_published.tsv"
        localrule: True  # cluster nodes rarely have a network
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(1000),
        params:
            files=config["published"]["files"],
            places=PLACES,
        script:
            "../../workflow_scripts/published/fetch_published.py"


rule import_published:
    """Make model folders from a student of Firefox: one with its integers, one with decoded weights."""
    input:
        published_files(),
    output:
        int8=directory(PUBLISHED / "int8"),
        float32=directory(PUBLISHED / "float32"),
    log:
        LOGS / "import_published.log",
    benchmark:
        BENCHMARKS / "import_published.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    script:
        "../../workflow_scripts/published/import_published.py"


rule cut_vocabulary:
    """Cut a published vocabulary, or each of two, to the commonest pieces of the cleaned corpora."""
    input:
        published=PUBLISHED / "float32",
        corpora=selected(config["corpora"]),
    output:
        in_vocabulary(VOCABULARY),
    log:
        LOGS / "cut_vocabulary/{size}.log",
    benchmark:
        BENCHMARKS / "cut_vocabulary/{size}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../../workflow_scripts/published/cut_vocabulary.py"


rule import_student:
    """Make a student from the published one, with the pieces of its own vocabulary."""
    input:
        published=PUBLISHED / "float32",
        vocabulary=lambda w: vocabulary_of(w.student),
    output:
        directory(MODELS / "{student}/unpruned/float32"),
    log:
        LOGS / "import_student/{student}.log",
    benchmark:
        BENCHMARKS / "import_student/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
    params:
        entry=lambda w: entry_of(w.student),
    script:
        "../../workflow_scripts/published/import_student.py"


rule align_by_published:
    """Add the published student's own alignment links between the pieces of a vocabulary to a training text."""
    input:
        published=PUBLISHED / "float32",
        text=lambda w: student_text(w.text),
        vocabulary=in_vocabulary(VOCABULARY),
    output:
        ALIGNED / "{size}/training{text}.parquet",
    log:
        LOGS / "align_by_published/{size}{text}.log",
    benchmark:
        BENCHMARKS / "align_by_published/{size}{text}.tsv"
    wildcard_constraints:
        text="|@[^/]+",
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.published]),
    script:
        "../../workflow_scripts/published/align_text.py"


BERGAMOT = ".venvs/bergamot/bin/python"


def firefox_entrants():
    """Return (name, Firefox's files, model, shortlist) of the published student and of all int8 variants.

    Variants that are not exported for Firefox have no files, and run only in our engine.
    """
    exported = [
        variant for form, variant in expand_exports(config) if form == "firefox"
    ]
    files = config["published"].get("folder", str(PUBLISHED / "files"))
    found = [("published", files, None, None)]
    for variant in VARIANTS:
        name = "/".join(variant)
        if variant in exported:
            found.append((name, str(EXPORTS.joinpath(*variant, "firefox")), None, None))
        elif grid_of(variant[2]) == "int8":
            model = str(MODELS.joinpath(*variant))
            found.append((name, None, model, shortlist_path(variant)))
    return found


rule measure_alignments:
    """Compare the alignments of all variants with those of the published student."""
    input:
        published=PUBLISHED / "int8",
        models=[MODELS.joinpath(*variant) for variant in VARIANTS],
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "alignments.json",
    log:
        LOGS / "measure_alignments.log",
    benchmark:
        BENCHMARKS / "measure_alignments.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, attempt: attempt * largest_search_memory(),
    params:
        variants=["/".join(variant) for variant in VARIANTS],
    script:
        "../../workflow_scripts/evaluate/measure_alignments.py"


rule measure_firefox:
    """Measure the published student and all int8 variants in Bergamot, if it is installed, and in our engine."""
    input:
        [ancient(path) for path in [BERGAMOT] if Path(path).exists()],
        published_files(),
        files=[path for one in firefox_entrants()[1:] for path in one[1:] if path],
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "firefox.json",
    log:
        LOGS / "measure_firefox.log",
    benchmark:
        BENCHMARKS / "measure_firefox.tsv"
    conda:
        "../../envs/main.yaml"
    # Take all of --cores, so that nothing else runs meanwhile.
    threads: lambda w: workflow.cores if workflow.local_exec else process_threads()
    resources:
        mem_mb=lambda w, attempt: attempt * 2 * largest_search_memory(),
    params:
        entrants=firefox_entrants(),
        test_sets=list(config["test_sets"]),
        python=BERGAMOT,
        rounds=config["evaluation"]["speed"]["rounds"],
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
    script:
        "../../workflow_scripts/evaluate/measure_firefox.py"
