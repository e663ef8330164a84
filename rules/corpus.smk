"""Corpora, validation and test sets as tables; cleaning and its report."""

from goldcrest.corpus.importers import importer_from

CLEANING = config["cleaning"]


def import_inputs(entries):
    """The local files of importer entries that are there; a missing one is the import's to report."""
    entries = entries if isinstance(entries, list) else [entries]
    files = [file for entry in entries for file in importer_from(entry).local_files()]
    return [file for file in files if Path(file).is_file()]


def import_code(entries):
    """The fingerprint of what importer entries run."""
    entries = entries if isinstance(entries, list) else [entries]
    parts = ["corpus.importers", "corpus.download", "corpus.table"]
    if any(entry["importer"] == "synthetic" for entry in entries):
        parts.append("corpus.synthetic")
    return code_version(*parts)


def language_pair():
    """The source and the target language."""
    return [config["languages"]["source"], config["languages"]["target"]]


def language_id_model():
    """The identifier's file: the configuration's own, or what `language_id_model` makes; none without."""
    if "language_id" not in CLEANING:
        return []
    model = CLEANING["language_id"]["model"]
    made = model == "synthetic" or "://" in model
    return CORPORA / "language_id.ftz" if made else model


def held_out_tables():
    """The tables whose sentences must not be trained on."""
    if not CLEANING["remove_test_overlap"]:
        return []
    return [
        VALIDATION,
        *(TEST_SETS / f"{name}.parquet" for name in config["test_sets"]),
    ]


rule import_corpus:
    """Import a corpus into shards."""
    input:
        lambda w: import_inputs(config["corpora"][w.corpus]),
    output:
        temp(directory(CORPORA / "{corpus}/imported")),
    log:
        LOGS / "import_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "import_corpus/{corpus}.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        name=lambda w: w.corpus,
        entries=lambda w: config["corpora"][w.corpus],
        monolingual=lambda w: config["corpora"][w.corpus].get("use") == "monolingual",
        languages=language_pair(),
        shard_rows=CLEANING["shard_rows"],
        code=lambda w: import_code(config["corpora"][w.corpus]),
    script:
        "../workflow_scripts/corpus/import_corpus.py"


rule import_test_set:
    """Import a test set."""
    input:
        lambda w: import_inputs(config["test_sets"][w.test_set]),
    output:
        TEST_SETS / "{test_set}.parquet",
    log:
        LOGS / "import_test_set/{test_set}.log",
    benchmark:
        BENCHMARKS / "import_test_set/{test_set}.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        name=lambda w: w.test_set,
        entries=lambda w: config["test_sets"][w.test_set],
        monolingual=False,
        languages=language_pair(),
        shard_rows=None,
        code=lambda w: import_code(config["test_sets"][w.test_set]),
    script:
        "../workflow_scripts/corpus/import_corpus.py"


rule import_validation:
    """Import the validation set, one entry or several."""
    input:
        import_inputs(config["validation"]),
    output:
        VALIDATION,
    log:
        LOGS / "import_validation.log",
    benchmark:
        BENCHMARKS / "import_validation.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        name="validation",
        entries=config["validation"],
        monolingual=False,
        languages=language_pair(),
        shard_rows=None,
        code=lambda w: import_code(config["validation"]),
    script:
        "../workflow_scripts/corpus/import_corpus.py"


rule language_id_model:
    """Train the demo's language identifier on the embedded grammar, or fetch one by its checksum."""
    output:
        CORPORA / "language_id.ftz",
    log:
        LOGS / "language_id_model.log",
    benchmark:
        BENCHMARKS / "language_id_model.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        model=CLEANING.get("language_id", {}).get("model"),
        sha256=CLEANING.get("language_id", {}).get("sha256"),
        seed=config["seed"],
        code=lambda w: code_version(
            "corpus.language_id_training", "corpus.synthetic", "corpus.download"
        ),
    script:
        "../workflow_scripts/corpus/language_id_model.py"


rule clean_corpus:
    """Normalise the text and name for every rejected row its first filter."""
    input:
        corpus=CORPORA / "{corpus}/imported",
        held_out=held_out_tables(),
        language_id=language_id_model(),
    output:
        directory(CORPORA / "{corpus}/cleaned"),
    log:
        LOGS / "clean_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "clean_corpus/{corpus}.tsv"
    conda:
        "../envs/main.yaml"
    threads: config["hardware"]["threads"]
    resources:
        mem_mb=lambda w, threads: 700 * threads,
    params:
        languages=language_pair(),
        rules=CLEANING["rules"],
        language_id=CLEANING.get("language_id"),
        code=code_version("corpus.cleaning", "corpus.table"),
    script:
        "../workflow_scripts/corpus/clean_corpus.py"


rule cleaning_report:
    """Show how many rows each filter took, and how much of the labelled damage was found."""
    input:
        corpora=expand(CORPORA / "{corpus}/cleaned", corpus=config["corpora"]),
    output:
        json=CORPORA / "cleaning.json",
        csv=report(
            CORPORA / "cleaning.csv",
            category="1 Corpora",
            caption="../report/cleaning_table.rst",
            labels={"result": "Cleaning: rows by filter", "form": "table"},
        ),
        noise=report(
            CORPORA / "cleaning_noise.csv",
            category="1 Corpora",
            caption="../report/cleaning_noise.rst",
            labels={"result": "Cleaning: damage found", "form": "table"},
        ),
        markdown=CORPORA / "cleaning.md",
        page=report(
            FIGURES / "cleaning.html",
            category="1 Corpora",
            caption="../report/cleaning.rst",
            labels={"result": "Cleaning: rows by filter", "form": "figure"},
        ),
        figures=[FIGURES / "cleaning.png", FIGURES / "cleaning.svg"],
    log:
        LOGS / "cleaning_report.log",
    benchmark:
        BENCHMARKS / "cleaning_report.tsv"
    conda:
        "../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        corpora=list(config["corpora"]),
        code=code_version("corpus.report", "corpus.figure", "corpus.table"),
    script:
        "../workflow_scripts/corpus/cleaning_report.py"
