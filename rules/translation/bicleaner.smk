"""The score `bicleaner`; its classifier is trained and run by the Python of a separate environment."""

import json

BICLEANER = config["scoring"].get("bicleaner", {})
BICLEANER_MADE = SCORING / "bicleaner/model"

BICLEANER_FETCHED = is_url(BICLEANER.get("model", ""))

# The user's own folder, or one that a rule unpacks or trains.
if "model" in BICLEANER and not BICLEANER_FETCHED:
    BICLEANER_MODEL = present([BICLEANER["model"]])
else:
    BICLEANER_MODEL = [BICLEANER_MADE]


if BICLEANER_FETCHED:

    rule unpack_bicleaner:
        """Fetch a published model, verify its checksum and unpack it."""
        output:
            directory(BICLEANER_MADE),
        log:
            LOGS / "unpack_bicleaner.log",
        benchmark:
            BENCHMARKS / "unpack_bicleaner.tsv"
        localrule: True  # cluster nodes rarely have a network
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(500),
        params:
            model=BICLEANER["model"],
            sha256=BICLEANER.get("sha256"),
            places=PLACES,
        script:
            "../../workflow_scripts/scores/unpack_bicleaner.py"

elif BICLEANER and "model" not in BICLEANER:

    rule clean_pairs:
        """Choose the classifier's training pairs: the best by their other scores, or any that the rules keep."""
        input:
            corpora=expand(CORPORA / "{corpus}/cleaned", corpus=PARALLEL),
            scores=[
                CORPORA / corpus / "scores" / name
                for corpus in PARALLEL
                for name in scores_before(corpus)
            ],
        output:
            temp(directory(SCORING / "bicleaner/pairs")),
        log:
            LOGS / "clean_pairs.log",
        benchmark:
            BENCHMARKS / "clean_pairs.tsv"
        conda:
            "../../envs/main.yaml"
        threads: 1
        resources:
            mem_mb=growing(2000),
        params:
            scores=[scores_before(corpus) for corpus in PARALLEL],
            pairs=BICLEANER["training"]["pairs"],
            cleanest=BICLEANER["training"]["cleanest"],
            seed=config["seed"],
        script:
            "../../workflow_scripts/scores/clean_pairs.py"

    rule train_bicleaner:
        """Train a lite classifier on clean pairs and on copies that bicleaner-ai damages."""
        input:
            pairs=SCORING / "bicleaner/pairs",
            environment=environment_of("bicleaner"),
        output:
            directory(BICLEANER_MADE),
        log:
            LOGS / "train_bicleaner.log",
        benchmark:
            BENCHMARKS / "train_bicleaner.tsv"
        conda:
            "../../envs/bicleaner.yaml"
        threads: 1
        resources:
            mem_mb=growing(4000),
        params:
            settings=json.dumps(BICLEANER["training"]),
            languages=LANGUAGE_PAIR,
            seed=config["seed"],
            versions=versions_of("bicleaner"),
        shell:
            run_in("bicleaner", "scores/train_bicleaner.py")
            + "--pairs {input.pairs:q} --output {output:q} --languages {params.languages}"
            " --settings {params.settings:q} --seed {params.seed}"


rule bicleaner_pairs:
    """Write the kept pairs of a text into files that bicleaner's environment reads."""
    input:
        corpus=scored_text,
    output:
        temp(directory(RESULTS / "{scored}/scores/bicleaner.pairs")),
    log:
        LOGS / "bicleaner_pairs/{scored}.log",
    benchmark:
        BENCHMARKS / "bicleaner_pairs/{scored}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../../workflow_scripts/scores/bicleaner_pairs.py"


rule classify_by_bicleaner:
    """Compute the probability that each pair is a translation, in parts; a killed job resumes after the last part."""
    input:
        pairs=RESULTS / "{scored}/scores/bicleaner.pairs",
        model=BICLEANER_MODEL,
        environment=environment_of("bicleaner"),
    output:
        temp(directory(RESULTS / "{scored}/scores/bicleaner.parts")),
    log:
        LOGS / "classify_by_bicleaner/{scored}.log",
    benchmark:
        BENCHMARKS / "classify_by_bicleaner/{scored}.tsv"
    conda:
        "../../envs/bicleaner.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory(input.model),
    params:
        languages=LANGUAGE_PAIR,
        hard_rules="--hard-rules" if BICLEANER.get("hard_rules") else "",
        versions=versions_of("bicleaner"),
    shell:
        run_in("bicleaner", "scores/classify_by_bicleaner.py")
        + "--pairs {input.pairs:q} --model {input.model:q} --output {output:q} --languages {params.languages}"
        " {params.hard_rules} --threads {threads} --code {params.code}"


rule score_by_bicleaner:
    """Write bicleaner's probabilities as a score table, after a check of all counts against the text."""
    input:
        corpus=scored_text,
        pairs=rules.bicleaner_pairs.output[0],
        parts=rules.classify_by_bicleaner.output[0],
    output:
        directory(RESULTS / "{scored}/scores/bicleaner"),
    log:
        LOGS / "score_by_bicleaner/{scored}.log",
    benchmark:
        BENCHMARKS / "score_by_bicleaner/{scored}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
    script:
        "../../workflow_scripts/scores/score_by_bicleaner.py"
