"""Alignments of the students' training text, used if the configuration guides attention by alignments."""

ALIGNED_AT_ONCE = 1_000_000  # pairs, which take ten minutes and three gigabytes


rule align_text:
    """Add alignment links between the pieces of a vocabulary to a training text."""
    input:
        text=lambda w: student_text(w.text),
        vocabulary=in_vocabulary(VOCABULARY),
    output:
        ALIGNED / "{size}/training{text}.parquet",
    log:
        LOGS / "align_text/{size}{text}.log",
    benchmark:
        BENCHMARKS / "align_text/{size}{text}.tsv"
    wildcard_constraints:
        text="|@[^/]+",
    conda:
        "../../envs/main.yaml"
    threads: 2  # one for each direction of the alignment
    resources:
        mem_mb=lambda w, attempt: attempt * alignment_memory(ALIGNED_AT_ONCE),
    params:
        seed=config["seed"],
        pairs_at_once=ALIGNED_AT_ONCE,
    script:
        "../../workflow_scripts/distil/align_text.py"
