"""Quality, size and speed of every variant, and of the teacher."""


rule translate_test_set:
    """A variant's translations of a test set."""
    input:
        model=lambda w: model_of(w.student, w.recipe, w.precision),
        test_set=TEST_SETS / "{test_set}.parquet",
    output:
        TRANSLATIONS / "{student}/{recipe}/{precision}/{test_set}.txt",
    log:
        LOGS / "translate_test_set/{student}.{recipe}.{precision}.{test_set}.log",
    benchmark:
        BENCHMARKS / "translate_test_set/{student}.{recipe}.{precision}.{test_set}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **search_resources(),
    params:
        search=lambda w: search_of(w.student, w.recipe, w.precision),
        languages=languages_of(config, config["teacher"], reverse=False),
        accelerator=config["hardware"]["accelerator"],
    script:
        "../../workflow_scripts/evaluate/translate_test_set.py"


rule choose_by_mbr:
    """The teacher's translations of a test set, chosen among many by minimum Bayes risk."""
    input:
        model=teacher_folders(),
        comet=comet_files(),
        test_set=TEST_SETS / "{test_set}.parquet",
    output:
        TRANSLATIONS / "teacher/mbr-{candidates}/float32/{test_set}.txt",
    log:
        LOGS / "choose_by_mbr/{candidates}.{test_set}.log",
    benchmark:
        BENCHMARKS / "choose_by_mbr/{candidates}.{test_set}.tsv"
    wildcard_constraints:
        candidates="[0-9]+",
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **search_resources(),
    params:
        mbr=config["evaluation"].get("mbr"),
        search=BY_TEACHER,
        comet=config["evaluation"].get("comet"),
        languages=languages_of(config, config["teacher"], reverse=False),
        target=config["languages"]["target"],
        accelerator=config["hardware"]["accelerator"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/evaluate/choose_by_mbr.py"


ruleorder: choose_by_mbr > translate_test_set


rule measure_quality:
    """BLEU and chrF of a variant with intervals and significance."""
    input:
        model=lambda w: model_of(w.student, w.recipe, w.precision),
        translations=lambda w: translations_of(w.student, w.recipe, w.precision),
        baseline=baseline_translations,
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        EVALUATION / "quality/{student}/{recipe}/{precision}.json",
    log:
        LOGS / "measure_quality/{student}.{recipe}.{precision}.log",
    benchmark:
        BENCHMARKS / "measure_quality/{student}.{recipe}.{precision}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        variant="{student}/{recipe}/{precision}",
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=config["languages"]["target"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/evaluate/measure_quality.py"


rule compare_pruned:
    """A pruned student's variants against its unpruned self and the baselines it is to beat; paired."""
    input:
        translations=lambda w: translations_of_pairs(COMPARED[w.student, w.recipe]),
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        EVALUATION / "comparisons/{student}/{recipe}.json",
    log:
        LOGS / "compare_pruned/{student}.{recipe}.log",
    benchmark:
        BENCHMARKS / "compare_pruned/{student}.{recipe}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        pairs=lambda w: named_pairs(COMPARED[w.student, w.recipe]),
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=config["languages"]["target"],
    script:
        "../../workflow_scripts/evaluate/compare_pruned.py"


rule compare_seeds:
    """A student's pruned variants against what they are to beat, over all seeds of their training."""
    input:
        translations=lambda w: [
            file
            for by_seed in SEEDS_COMPARED[w.student]
            for file in translations_of_pairs(by_seed)
        ],
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        EVALUATION / "seeds/{student}.json",
    log:
        LOGS / "compare_seeds/{student}.log",
    benchmark:
        BENCHMARKS / "compare_seeds/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        comparisons=lambda w: [
            (
                [seed_of(variant[0], config) for variant, _ in by_seed],
                named_pairs(by_seed),
            )
            for by_seed in SEEDS_COMPARED[w.student]
        ],
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=config["languages"]["target"],
    script:
        "../../workflow_scripts/evaluate/compare_seeds.py"


use rule compare_pruned as compare_training_texts with:
    input:
        translations=lambda w: translations_of_pairs(compared_texts(w.student)),
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        EVALUATION / "training_texts/{student}.json",
    log:
        LOGS / "compare_training_texts/{student}.log",
    benchmark:
        BENCHMARKS / "compare_training_texts/{student}.tsv"
    params:
        pairs=lambda w: named_pairs(compared_texts(w.student)),


rule measure_size:
    """Exact bytes of a variant, compressed too, its parameters and its shape."""
    input:
        model=lambda w: model_of(w.student, w.recipe, w.precision),
    output:
        EVALUATION / "size/{student}/{recipe}/{precision}.json",
    log:
        LOGS / "measure_size/{student}.{recipe}.{precision}.log",
    benchmark:
        BENCHMARKS / "measure_size/{student}.{recipe}.{precision}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        variant="{student}/{recipe}/{precision}",
    script:
        "../../workflow_scripts/evaluate/measure_size.py"


rule measure_activation_error:
    """What quantizing a student's activations would cost, by each formula of their scales."""
    input:
        model=MODELS / "{student}/{recipe}/float32",
        ranges=CALIBRATION / "{student}/{recipe}.json",
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        EVALUATION / "activation_error/{student}/{recipe}.json",
    log:
        LOGS / "measure_activation_error/{student}.{recipe}.log",
    benchmark:
        BENCHMARKS / "measure_activation_error/{student}.{recipe}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        sentences=config["quantization"]["calibration_sentences"],
    script:
        "../../workflow_scripts/evaluate/measure_activation_error.py"


rule measure_speed:
    """Speed by the runtime and by PyTorch, interleaved, latency and memory of all variants; alone on the machine."""
    input:
        models=[folder for variant in MEASURED for folder in model_of(*variant)],
        shortlists=list(SHORTLISTED.values()),
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        speed=EVALUATION / "speed.json",
        latency=EVALUATION / "latency.json",
    log:
        LOGS / "measure_speed.log",
    benchmark:
        BENCHMARKS / "measure_speed.tsv"
    conda:
        "../../envs/main.yaml"
    # All that --cores gives; without it, on a cluster, one process's or the profile's set-threads.
    threads: lambda w: workflow.cores if workflow.local_exec else process_threads()
    resources:
        mem_mb=lambda w, threads, attempt: attempt * threads * largest_search_memory(),
    params:
        entrants=[
            (
                "/".join(variant),
                [str(folder) for folder in model_of(*variant)],
                search,
                shortlist_path(variant),
            )
            for variant, search in MEASURED.items()
        ],
        languages=languages_of(config, config["teacher"], reverse=False),
        sentences=config["evaluation"]["speed"]["sentences"],
        latency_sentences=config["evaluation"]["speed"]["latency_sentences"],
        rounds=config["evaluation"]["speed"]["rounds"],
        least_seconds=config["evaluation"]["speed"]["least_seconds"],
    script:
        "../../workflow_scripts/evaluate/measure_speed.py"


rule measure_gpu_speed:
    """Words per second of all students on a GPU by mini-batch size and numbers, without and with a shortlist."""
    input:
        models=[MODELS.joinpath(*variant) for variant in VARIANTS],
        shortlists=gpu_shortlists(),
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=config["test_sets"]),
    output:
        GPU_SPEED,
    log:
        LOGS / "measure_gpu_speed.log",
    benchmark:
        BENCHMARKS / "measure_gpu_speed.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=lambda w, attempt: attempt * largest_search_memory(),
    params:
        students=gpu_students(),
        sentences=config["evaluation"]["speed"]["sentences"],
        batch_sizes=config["evaluation"]["speed"]["gpu_batch_sizes"],
        rounds=config["evaluation"]["speed"]["rounds"],
    script:
        "../../workflow_scripts/evaluate/measure_gpu_speed.py"


rule benchmark_runtime:
    """The runtime beside CTranslate2 in the papers' shapes; it wants the machine to itself."""
    output:
        ENGINES,
    log:
        LOGS / "benchmark_runtime.log",
    benchmark:
        BENCHMARKS / "benchmark_runtime.tsv"
    conda:
        "../../envs/main.yaml"
    threads: lambda w: workflow.cores if workflow.local_exec else process_threads()
    resources:
        mem_mb=lambda w, threads, attempt: attempt * threads * 1500,
    params:
        settings=config["evaluation"].get("engines"),
        shapes=benchmarked_shapes(),
    script:
        "../../workflow_scripts/evaluate/benchmark_runtime.py"
