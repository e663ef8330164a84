"""What is measured: the variants, the teacher, and the files of each."""

TEACHER_BEAMS = {
    f"beam-{config['distillation']['beam']}": config["distillation"]["beam"],
    "greedy": 1,
}
TEACHER_VARIANTS = [("teacher", search, "float32") for search in TEACHER_BEAMS]
MEASURED = TEACHER_VARIANTS + list(VARIANTS)
TRANSLATIONS = EVALUATION / "translations"
BATCH_SIZE = config["evaluation"]["speed"]["batch_size"]


def model_of(student, recipe, precision):
    """The model folders of a variant; several are an ensemble."""
    if (student, recipe, precision) in TEACHER_VARIANTS:
        return teacher_folders()
    return [MODELS / student / recipe / precision]


def largest_search_memory():
    """MiB that one process needs for the largest of what is measured."""
    return max(search_memory(model_of(*variant)) for variant in MEASURED)


def translations_of(student, recipe, precision):
    """A variant's translations of all test sets."""
    folder = TRANSLATIONS / student / recipe / precision
    return expand(folder / "{test_set}.txt", test_set=config["test_sets"])


def baseline_translations(wildcards):
    """Those of the student's unpruned float32 model; none where that is the one measured."""
    baseline = (wildcards.student, "unpruned", "float32")
    if wildcards.student == "teacher" or tuple(wildcards) == baseline:
        return []
    return translations_of(*baseline)


def measurements(kind):
    """The quality or size files of all variants."""
    return [EVALUATION / kind / f"{'/'.join(variant)}.json" for variant in MEASURED]
