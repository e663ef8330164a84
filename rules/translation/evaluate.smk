"""Quality, size and speed of every variant, and of the teacher."""


rule translate_test_set:
    """Translate a test set with a variant."""
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
    """Translate a test set with the teacher, choosing among candidates by minimum Bayes risk."""
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
        target=bleu_target("target"),
        accelerator=config["hardware"]["accelerator"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/evaluate/choose_by_mbr.py"


ruleorder: choose_by_mbr > translate_test_set


rule measure_student:
    """Measure quality and size of all measured variants of a student, or of the teacher."""
    input:
        models=lambda w: [
            folder for variant in scored(w.student) for folder in model_of(*variant)
        ],
        translations=lambda w: [
            file for variant in scored(w.student) for file in translations_of(*variant)
        ],
        test_sets=TEST_TABLES,
    output:
        quality=EVALUATION / "quality/{student}.json",
        size=EVALUATION / "size/{student}.json",
    log:
        LOGS / "measure_student/{student}.log",
    benchmark:
        BENCHMARKS / "measure_student/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        variants=lambda w: measured_files_of(scored(w.student)),
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
        seed=config["seed"],
    script:
        "../../workflow_scripts/evaluate/measure_student.py"


rule compare_pruned:
    """Compare a student's pruned variants, in pairs, with the unpruned student and the baselines of pruning."""
    input:
        translations=lambda w: translations_of_pairs(pruned_pairs(w.student)),
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "comparisons/{student}.json",
    log:
        LOGS / "compare_pruned/{student}.log",
    benchmark:
        BENCHMARKS / "compare_pruned/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        pairs=lambda w: named_pairs(pruned_pairs(w.student)),
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
    script:
        "../../workflow_scripts/evaluate/compare_pruned.py"


rule compare_seeds:
    """Compare a student's pruned variants with their baselines over all seeds of their training."""
    input:
        translations=lambda w: [
            file
            for by_seed in SEEDS_COMPARED[w.student]
            for file in translations_of_pairs(by_seed)
        ],
        test_sets=TEST_TABLES,
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
        target=bleu_target("target"),
    script:
        "../../workflow_scripts/evaluate/compare_seeds.py"


use rule compare_pruned as compare_steps with:
    input:
        translations=lambda w: translations_of_pairs(steps_of(w.student)),
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "steps/{student}.json",
    log:
        LOGS / "compare_steps/{student}.log",
    benchmark:
        BENCHMARKS / "compare_steps/{student}.tsv"
    params:
        pairs=lambda w: named_pairs(steps_of(w.student)),


use rule compare_pruned as compare_training_texts with:
    input:
        translations=lambda w: translations_of_pairs(compared_texts(w.student)),
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "training_texts/{student}.json",
    log:
        LOGS / "compare_training_texts/{student}.log",
    benchmark:
        BENCHMARKS / "compare_training_texts/{student}.tsv"
    params:
        pairs=lambda w: named_pairs(compared_texts(w.student)),


rule measure_original_languages:
    """Measure BLEU of a student's variants, or the teacher's, by the language in which sentences were first written."""
    input:
        translations=lambda w: [
            file
            for variant in scored(w.student)
            for file in translations_by_origin(*variant)
        ],
        test_sets=expand(TEST_SETS / "{test_set}.parquet", test_set=BY_ORIGIN),
        origlang=[
            entry["origlang"]
            for entry in BY_ORIGIN.values()
            if entry.get("origlang") in local_inputs(entry)
        ],
    output:
        EVALUATION / "original_languages/{student}.json",
    log:
        LOGS / "measure_original_languages/{student}.log",
    benchmark:
        BENCHMARKS / "measure_original_languages/{student}.tsv"
    conda:
        "../../envs/main.yaml"
    threads: 1
    params:
        variants=lambda w: {
            "/".join(variant): translations_by_origin(*variant)
            for variant in scored(w.student)
        },
        test_sets=BY_ORIGIN,
        languages=LANGUAGE_PAIR,
        places=PLACES,
        bootstrap=config["evaluation"]["bootstrap"],
        target=bleu_target("target"),
    script:
        "../../workflow_scripts/evaluate/measure_original_languages.py"


rule measure_activation_error:
    """Measure the error of quantizing a student's activations by each formula of their scales."""
    input:
        model=MODELS / "{student}/{recipe}/float32",
        ranges=CALIBRATION / "{student}/{recipe}.json",
        test_sets=TEST_TABLES,
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
    """Measure speed by the runtime and by PyTorch in interleaved rounds, latency and memory of all variants."""
    input:
        models=[folder for variant in MEASURED for folder in model_of(*variant)],
        shortlists=list(SHORTLISTED.values()),
        test_sets=TEST_TABLES,
    output:
        speed=EVALUATION / "speed.json",
        latency=EVALUATION / "latency.json",
    log:
        LOGS / "measure_speed.log",
    benchmark:
        BENCHMARKS / "measure_speed.tsv"
    conda:
        "../../envs/main.yaml"
    # Take all of --cores, so that nothing else runs meanwhile.  A cluster job has one process's threads, or those
    # that the profile sets by set-threads.
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
        teacher_sentences=config["evaluation"]["speed"]["teacher_sentences"],
        latency_sentences=config["evaluation"]["speed"]["latency_sentences"],
        rounds=config["evaluation"]["speed"]["rounds"],
        least_seconds=config["evaluation"]["speed"]["least_seconds"],
    script:
        "../../workflow_scripts/evaluate/measure_speed.py"


rule measure_gpu_speed:
    """Measure students' words per second on a GPU, by mini-batch size and numbers, with and without shortlist."""
    input:
        models=[folder for _, folder, _ in gpu_students()],
        shortlists=gpu_shortlists(),
        test_sets=TEST_TABLES,
        corpus=selected([GPU_TEXT["corpus"]] if "corpus" in GPU_TEXT else []),
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
        accelerator=config["hardware"]["accelerator"],
        test_sets=list(config["test_sets"]),
        corpus=GPU_TEXT.get("corpus", ""),
        sentences=GPU_TEXT.get("sentences"),
        latency_sentences=config["evaluation"]["speed"]["latency_sentences"],
        batch_sizes=config["evaluation"]["speed"]["gpu_batch_sizes"],
        numbers=config["evaluation"]["speed"]["gpu_numbers"],
        rounds=config["evaluation"]["speed"]["rounds"],
        target=bleu_target("target"),
    script:
        "../../workflow_scripts/evaluate/measure_gpu_speed.py"


rule benchmark_runtime:
    """Compare the runtime's speed with CTranslate2's for the papers' shapes, with no other job on the machine."""
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
