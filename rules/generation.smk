"""Pipeline for small models that generate text: fine-tuning, distillation, pruning, quantization, measurement."""


include: "generation/common.smk"
include: "generation/models.smk"
include: "generation/steps.smk"
include: "generation/evaluate.smk"
include: "generation/report.smk"
