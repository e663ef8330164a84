"""Pipeline from judgements to small metrics: encoders, references, pruning, distillation, agreement with people."""


include: "metric/common.smk"
include: "metric/encoder.smk"
include: "metric/reference.smk"
include: "metric/evaluate.smk"
include: "metric/robustness.smk"
include: "metric/report.smk"


if "pruning" in config:

    include: "metric/prune.smk"


if "distillation" in config:

    include: "metric/translations.smk"
    include: "metric/distil.smk"


if config["metrics"]:

    include: "metric/other_metrics.smk"
