"""Tables of corpora, validation and test sets; cleaning and its report."""

from weebill.corpus.download import is_url
from weebill.corpus.importers.inputs import contents, local_inputs
from weebill.experiment.corpora import USES, entries
from weebill.errors import key_path

CLEANING = config["cleaning"]
LANGUAGE_PAIR = [config["languages"]["source"], config["languages"]["target"]]
LANGUAGE_ID = CLEANING.get("language_id", {"model": None})
LANGUAGE_ID_MADE = CORPORA / "language_id.ftz"

# Language identifier: none, the user's own file, or a file that a rule trains or fetches.
if LANGUAGE_ID["model"] is None:
    LANGUAGE_ID_MODEL = []
elif LANGUAGE_ID["model"] == "tatoeba" or is_url(LANGUAGE_ID["model"]):
    LANGUAGE_ID_MODEL = [LANGUAGE_ID_MADE]
else:
    LANGUAGE_ID_MODEL = present([LANGUAGE_ID["model"]])


# Tables whose sentences must not be in training text.
HELD_OUT = [VALIDATION, *TEST_TABLES]


ENTRIES = list(entries(config))
SOURCES = [entry.values for entry in ENTRIES]


rule lock_sources:
    """Fetch the sources of the corpora and record them; a later run must find the same sources."""
    input:
        local_inputs(SOURCES),
    output:
        update(SOURCES_LOCK),
    log:
        LOGS / "lock_sources.log",
    benchmark:
        BENCHMARKS / "lock_sources.tsv"
    localrule: True  # cluster nodes rarely have a network
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(500),
    params:
        entries=contents(SOURCES),
        sources=unrecorded(
            lambda w: [(key_path(e.path), e.values, e.monolingual) for e in ENTRIES]
        ),
        places=PLACES,
        languages=LANGUAGE_PAIR,
    script:
        "../../workflow_scripts/corpus/lock_sources.py"


rule import_corpus:
    """Import a corpus into shards."""
    input:
        files=lambda w: local_inputs(config["corpora"][w.corpus]),
        lock=lambda w: sources_lock(config["corpora"][w.corpus]),
    output:
        temp(directory(CORPORA / "{corpus}/imported")),
    log:
        LOGS / "import_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "import_corpus/{corpus}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(500),
    params:
        name=lambda w: w.corpus,
        entries=lambda w: contents(config["corpora"][w.corpus]),
        source=unrecorded(lambda w: config["corpora"][w.corpus]),
        places=PLACES,
        monolingual=lambda w: USES[config["corpora"][w.corpus]["use"]],
        languages=LANGUAGE_PAIR,
        shard_rows=CLEANING["shard_rows"],
    script:
        "../../workflow_scripts/corpus/import_corpus.py"


rule import_test_set:
    """Import a test set."""
    input:
        files=lambda w: local_inputs(config["test_sets"][w.test_set]),
        lock=lambda w: sources_lock(config["test_sets"][w.test_set]),
    output:
        TEST_SETS / "{test_set}.parquet",
    log:
        LOGS / "import_test_set/{test_set}.log",
    benchmark:
        BENCHMARKS / "import_test_set/{test_set}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(500),
    params:
        name=lambda w: w.test_set,
        entries=lambda w: contents(config["test_sets"][w.test_set]),
        source=unrecorded(lambda w: config["test_sets"][w.test_set]),
        places=PLACES,
        monolingual=None,
        languages=LANGUAGE_PAIR,
        shard_rows=None,
    script:
        "../../workflow_scripts/corpus/import_corpus.py"


use rule import_test_set as import_validation with:
    input:
        files=local_inputs(config["validation"]),
        lock=sources_lock(config["validation"]),
    output:
        VALIDATION,
    log:
        LOGS / "import_validation.log",
    benchmark:
        BENCHMARKS / "import_validation.tsv"
    params:
        name="validation",
        entries=contents(config["validation"]),
        source=unrecorded(lambda w: config["validation"]),
        places=PLACES,
        monolingual=None,
        languages=LANGUAGE_PAIR,
        shard_rows=None,


rule language_id_model:
    """Train the demo's language identifier on the embedded text, or fetch one by its checksum."""
    output:
        LANGUAGE_ID_MADE,
    log:
        LOGS / "language_id_model.log",
    benchmark:
        BENCHMARKS / "language_id_model.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        model=LANGUAGE_ID["model"],
        sha256=LANGUAGE_ID.get("sha256"),
        places=PLACES,
        seed=config["seed"],
    script:
        "../../workflow_scripts/corpus/language_id_model.py"


rule clean_corpus:
    """Normalise the text, and record for every rejected row the first filter that rejects it."""
    input:
        corpus=CORPORA / "{corpus}/imported",
        held_out=lambda w: (
            HELD_OUT if cleaning_of(w.corpus)["remove_test_overlap"] else []
        ),
        language_id=LANGUAGE_ID_MODEL,
    output:
        directory(CORPORA / "{corpus}/cleaned"),
    log:
        LOGS / "clean_corpus/{corpus}.log",
    benchmark:
        BENCHMARKS / "clean_corpus/{corpus}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, threads, attempt: attempt * 700 * threads,
    params:
        languages=LANGUAGE_PAIR,
        rules=lambda w: cleaning_of(w.corpus)["rules"],
        language_id=lambda w: cleaning_of(w.corpus).get("language_id"),
        punctuation=CLEANING.get("punctuation"),
        near_duplicates=lambda w: cleaning_of(w.corpus)["near_duplicates"],
    script:
        "../../workflow_scripts/corpus/clean_corpus.py"


rule cleaning_report:
    """Report the rows that each filter removed, and the share of labelled damage that was found."""
    input:
        corpora=[*selected(config["corpora"]), *scored_translations().values()],
    output:
        **table_files(
            TABLES,
            "cleaning",
            "1 Corpora",
            "Cleaning: rows by filter",
            "cleaning",
        ),
        **table_files(
            TABLES,
            "cleaning_damage",
            "1 Corpora",
            "Cleaning: damage found",
            "cleaning_damage",
            # Only corpora with deliberate damage have labels; without them, this table is empty.
            shown=any(entry.get("noise") for entry in config["corpora"].values()),
        ),
        **table_files(
            TABLES,
            "cleaning_examples",
            "1 Corpora",
            "Cleaning: examples of dropped rows",
            "cleaning_examples",
        ),
        **figure_files(
            FIGURES,
            "cleaning_waterfall",
            "1 Corpora",
            "Cleaning: rows by filter",
        ),
        json=CORPORA / "cleaning.json",
    log:
        LOGS / "cleaning_report.log",
    benchmark:
        BENCHMARKS / "cleaning_report.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    params:
        languages=config["languages"],
        corpora=[*config["corpora"], *scored_translations()],
        seed=config["seed"],
        tables=lambda w, output: Path(output.cleaning_csv).parent.as_posix(),
        figures=lambda w, output: Path(output.cleaning_waterfall_png).parent.as_posix(),
    script:
        "../../workflow_scripts/corpus/cleaning_report.py"
