"""Pipeline from corpus to student: cleaning, teachers, distillation, students, pruning, quantization, measurement."""


include: "translation/common.smk"
include: "translation/texts.smk"
include: "translation/corpus.smk"
include: "translation/vocabulary.smk"
include: "translation/teacher.smk"
include: "translation/reverse.smk"
include: "translation/scores.smk"
include: "translation/bicleaner.smk"
include: "translation/distil.smk"
include: "translation/back_translate.smk"
include: "translation/student.smk"
include: "translation/prune.smk"
include: "translation/quantize.smk"
include: "translation/export.smk"
include: "translation/measured.smk"
include: "translation/evaluate.smk"
include: "translation/report.smk"


if "augmentation" in config["distillation"]:

    include: "translation/augment.smk"


if config["training"]["guided_alignment"]:

    include: "translation/align.smk"


if "published" in config:

    include: "translation/published.smk"


if "shortlist" in config:

    include: "translation/shortlist.smk"


if "cleaning" in config["evaluation"]:

    include: "translation/cleaning_students.smk"


if "comet" in config["evaluation"]:

    include: "translation/comet.smk"
