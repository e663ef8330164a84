"""Variants in the formats of other engines."""


rule export:
    """Write a variant for another engine, after a comparison of its weights or scores with ours."""
    input:
        # ONNX graphs compute all outputs; the other engines support shortlists.
        lambda w: (
            shortlist_of(w.student)
            if "shortlist" in config and w.format != "onnx"
            else []
        ),
        model=MODELS / "{student}/{recipe}/{precision}",
    output:
        directory(EXPORTS / "{student}/{recipe}/{precision}/{format}"),
    log:
        LOGS / "export/{student}.{recipe}.{precision}.{format}.log",
    benchmark:
        BENCHMARKS / "export/{student}.{recipe}.{precision}.{format}.tsv"
    wildcard_constraints:
        format="ctranslate2|marian|firefox|onnx",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    script:
        "../../workflow_scripts/export/export.py"
