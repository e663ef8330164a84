"""Text to small models that generate it: made or fetched, fine-tuned, distilled, pruned, quantized, measured."""


include: "generation/common.smk"
include: "generation/models.smk"
include: "generation/steps.smk"
include: "generation/evaluate.smk"
include: "generation/report.smk"
