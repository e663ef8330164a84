from snakemake.utils import min_version

min_version("9.0")

if not workflow.configfiles:  # the default, only where no --configfile is given

    configfile: "config/demo.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/texts.smk"
include: "rules/report_files.smk"
include: "rules/run.smk"
include: "rules/environments.smk"
include: "rules/corpus.smk"
include: "rules/vocabulary.smk"
include: "rules/teacher.smk"
include: "rules/reverse.smk"
include: "rules/scores.smk"
include: "rules/bicleaner.smk"
include: "rules/distil.smk"
include: "rules/back_translate.smk"
include: "rules/student.smk"
include: "rules/prune.smk"
include: "rules/quantize.smk"
include: "rules/export.smk"
include: "rules/measured.smk"
include: "rules/evaluate.smk"
include: "rules/report.smk"


if "augmentation" in config["distillation"]:

    include: "rules/augment.smk"


if config["training"]["guided_alignment"]:

    include: "rules/align.smk"


if "shortlist" in config:

    include: "rules/shortlist.smk"


if "cleaning" in config["evaluation"]:

    include: "rules/cleaning_students.smk"


rule all:
    input:
        final_targets(),
