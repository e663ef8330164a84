"""Measurement files for a translation experiment's tables, figures and pages."""


def trained_students():
    """Return the unpruned students that are trained here; an empty list if they are made from a published one."""
    students = dict.fromkeys(student for student, _, _ in VARIANTS)
    here = [] if "published" in config else students
    return expand(MODELS / "{student}/unpruned/float32", student=here)


REPORT_FILES = {
    "qualities": measurements("quality"),
    "origins": measurements_by_origin(),
    "sizes": measurements("size"),
    "speeds": [EVALUATION / "speed.json"],
    "latencies": [EVALUATION / "latency.json"],
    "gpu_speeds": timed_on_gpu(),
    "engines": benchmarked(),
    "steps": expand(EVALUATION / "steps/{student}.json", student=whole_students()),
    "comparisons": compared(),
    "seeds": compared_seeds(),
    "shortlists": shortlist_measurements(),
    "texts": expand(EVALUATION / "training_texts/{student}.json", student=OTHER_TEXTS),
    "pairs": [table for kind in learnt_kinds(config) for table in texts_of(kind)],
    "scale_errors": expand(
        EVALUATION / "activation_error/{source[0]}/{source[1]}.json",
        source=list(COMPARED_SCALES),
    ),
    "firefox": [EVALUATION / "firefox.json"] if "published" in config else [],
    "alignments": [EVALUATION / "alignments.json"] if "published" in config else [],
    "head_map": [TABLES / "head_map.csv"],
    "teachers": trained_teachers(),
    "students": trained_students(),
}

# Texts that the report shows with the models' outputs: those of the first test set.
FIRST_TEST_SET = next(iter(config["test_sets"]))
REPORT_EXAMPLES = {
    "test_set": [TEST_SETS / f"{FIRST_TEST_SET}.parquet"],
    "translations": [
        TRANSLATIONS.joinpath(*variant, f"{FIRST_TEST_SET}.txt") for variant in MEASURED
    ],
}


def card_folders():
    """Return the folders with a card, by variant: each model, then its exports; and the teacher's members."""
    found = {}
    if trained := trained_teachers():
        found["/".join(next(iter(MEASURED)))] = trained
    for variant in VARIANTS:
        exported = [
            EXPORTS.joinpath(*variant, form)
            for form, other in expand_exports(config)
            if tuple(other) == tuple(variant)
        ]
        found["/".join(variant)] = [*model_of(*variant), *exported]
    return found


CARD_FOLDERS = card_folders()
CARD_LOCK = sources_lock(SOURCES)
