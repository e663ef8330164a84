"""Metrics by their own libraries, BERTScore and BLEURT, as rows beside COMET's."""

import json
import re


rule score_by_library:
    """Such a metric's scores of a judged set, segment by segment."""
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
        metric="|".join(map(re.escape, config["metrics"])),
    conda:
        "../../envs/comet.yaml"
    threads: process_threads()
    resources:
        **accelerators(1),
        mem_mb=growing(8000),
    params:
        python=python_of("comet"),
        script=f"{REPOSITORY}/workflow_scripts/metric/score_by_library.py",
        entry=lambda w: json.dumps(JUDGED_SETS[w.judged]),
        by=lambda w: json.dumps(config["metrics"][w.metric]),
        versions=versions_of("comet"),
        accelerator=config["hardware"]["accelerator"],
        code=code_version(
            "hugging_face.loading",
            "metric.held_out",
            "metric.judged_set",
            "metric.judgements",
            "metric.libraries",
            "text_files",
        ),
    shell:
        "{params.python} {params.script:q} --log {log:q} --metric {wildcards.metric:q} --model {input.model:q}"
        " --judged {wildcards.judged:q} --entry {params.entry:q} --by {params.by:q} --output {output:q}"
        " --threads {threads} --accelerator {params.accelerator}"


ruleorder: score_by_library > score_judged
