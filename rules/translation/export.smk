"""Variants in the formats of other engines."""


rule export:
    """Write a variant for another engine; its weights or scores are compared with ours before it appears."""
    input:
        # ONNX graphs have all outputs; the other engines know shortlists.
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
        format="ctranslate2|marian|onnx",
    conda:
        "../../envs/main.yaml"
    threads: 1
    resources:
        mem_mb=lambda w, input, attempt: attempt * search_memory([input.model]),
    params:
        code=code_version(
            "quantization",
            "runtime.exports",
            "runtime.shortlist",
            "tensor_files",
            "experiment.shapes",
            "translation.model.folder",
            "translation.model.packed_folder",
            "translation.model.layers",
            "translation.model.network",
            "translation.model.decoder_state",
            "translation.model.vocabulary",
        ),
    script:
        "../../workflow_scripts/export/export.py"
