"""Quality by a COMET model: the papers' COMET columns."""

COMET_MODEL = config["evaluation"]["comet"]


rule measure_comet:
    """Compute COMET of every variant and the teacher on all test sets; each sentence is encoded once."""
    input:
        comet=comet_files(),
        models=[folder for variant in SCORED for folder in model_of(*variant)],
        translations=[file for variant in SCORED for file in translations_of(*variant)],
        test_sets=TEST_TABLES,
    output:
        EVALUATION / "comet.json",
    log:
        LOGS / "measure_comet.log",
    benchmark:
        BENCHMARKS / "measure_comet.tsv"
    conda:
        "../../envs/main.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        model=COMET_MODEL["model"],
        encoder=COMET_MODEL.get("encoder"),
        precision=COMET_MODEL["precision"],
        cache=str(EVALUATION / "comet.sqlite"),
        variants=measured_files_of(SCORED),
        test_sets=list(config["test_sets"]),
        bootstrap=config["evaluation"]["bootstrap"],
        accelerator=config["hardware"]["accelerator"],
        seed=config["seed"],
    script:
        "../../workflow_scripts/evaluate/measure_comet.py"
