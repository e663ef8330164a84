"""Metrics from other libraries, BERTScore and BLEURT, for comparison with COMET."""

import json


rule score_by_library:
    """Score a judged set with a metric of another library, segment by segment."""
    input:
        table=lambda w: judged_tables([JUDGED_SETS[w.judged]]),
        model=lambda w: encoder_of(config["metrics"][w.metric]["encoder"]),
        environment=environment_of("comet"),
    output:
        SCORES / "{judged}/{metric}.json",
    log:
        LOGS / "score_by_library/{judged}.{metric}.log",
    benchmark:
        BENCHMARKS / "score_by_library/{judged}.{metric}.tsv"
    wildcard_constraints:
        metric=either(config["metrics"]),
    conda:
        "../../envs/comet.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        entry=lambda w: json.dumps(JUDGED_SETS[w.judged]),
        by=lambda w: json.dumps(config["metrics"][w.metric]),
        versions=versions_of("comet"),
        accelerator=config["hardware"]["accelerator"],
    shell:
        run_in("comet", "metric/score_by_library.py")
        + "--metric {wildcards.metric:q} --model {input.model:q}"
        " --judged {wildcards.judged:q} --entry {params.entry:q} --by {params.by:q} --output {output:q}"
        " --threads {threads} --accelerator {params.accelerator}"


ruleorder: score_by_library > score_judged
