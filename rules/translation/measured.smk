"""What is measured: the variants, the teacher, and the files of each."""

from weebill.experiment.precisions import INTEGER_GRIDS, grid_of
from weebill.experiment.variants import UNPRUNED
from weebill.experiment.searches import is_search, mbr_name, search_name

TRANSLATIONS = EVALUATION / "translations"
ENGINES = EVALUATION / "engines.json"
GPU_SPEED = EVALUATION / "gpu_speed.json"
BATCH_SIZE = config["evaluation"]["speed"]["batch_size"]
# How the teacher searches, whatever its beam, and students by a beam.
BY_TEACHER = {
    key: config["distillation"][key]
    for key in ("length_normalisation", "max_source_tokens")
}
BY_BEAM = {"length_normalisation": BY_TEACHER["length_normalisation"]}


def measured_searches():
    """How each variant translates, the same where it is scored and where it is timed; in the tables' order.

    The teacher by its beam and greedily, students greedily, as trained by `evaluation.student_beam` too.
    """
    searches = {
        ("teacher", search_name(beam), "float32"): {"beam": beam, **BY_TEACHER}
        for beam in (config["distillation"]["beam"], 1)
    }
    student_beam = config["evaluation"].get("student_beam")
    for variant in VARIANTS:
        searches[variant] = {"beam": 1}
        if variant[1:] == (UNPRUNED, "float32") and student_beam:
            named = (variant[0], search_name(student_beam), "float32")
            searches[named] = {"beam": student_beam, **BY_BEAM}
    return {
        variant: {"batch_size": BATCH_SIZE, **one} for variant, one in searches.items()
    }


MEASURED = measured_searches()


def chosen_by_mbr():
    """What is translated by minimum Bayes risk, which is scored but not timed: the teacher, where it is asked for."""
    mbr = config["evaluation"].get("mbr")
    return [("teacher", mbr_name(mbr["candidates"]), "float32")] if mbr else []


def comet_files():
    """The user's own files of the COMET model, where one is asked for."""
    comet = config["evaluation"].get("comet", {})
    return present([comet[key] for key in ("model", "encoder") if key in comet])


SCORED = [*MEASURED, *chosen_by_mbr()]


def search_of(student, recipe, precision):
    """How a variant translates; those of other seeds, which are compared and no more, greedily."""
    of_other_seed = {"batch_size": BATCH_SIZE, "beam": 1}
    return MEASURED.get((student, recipe, precision), of_other_seed)


def model_of(student, recipe, precision):
    """The model folders of a variant; several are an ensemble."""
    if student == "teacher":
        return teacher_folders()
    return [MODELS / student / (UNPRUNED if is_search(recipe) else recipe) / precision]


def largest_search_memory():
    """MiB that one process needs for the largest of what is measured."""
    return max(search_memory(model_of(*variant)) for variant in MEASURED)


def translations_of(student, recipe, precision):
    """A variant's translations of all test sets."""
    folder = TRANSLATIONS / student / recipe / precision
    return expand(folder / "{test_set}.txt", test_set=config["test_sets"])


def baseline_translations(wildcards):
    """Those of the student's unpruned float32 model; none where that is the one measured."""
    baseline = (wildcards.student, UNPRUNED, "float32")
    if wildcards.student == "teacher" or tuple(wildcards) == baseline:
        return []
    return translations_of(*baseline)


def benchmarked():
    """The file of the runtime's benchmark, where the configuration asks for it."""
    return [ENGINES] if "engines" in config["evaluation"] else []


def timed_on_gpu():
    """The file of the GPU's speeds, where the hardware has one."""
    return [] if config["hardware"]["accelerator"] == "cpu" else [GPU_SPEED]


def compared_scales():
    """The variants of which there is one for each formula of activation scales, by (student, recipe)."""
    found = {}
    for student, recipe, precision in VARIANTS:
        made = QUANTIZED.get(precision)
        if made and made.activation_scale and not made.finetuned:
            of_grid = found.setdefault((student, recipe, made.grid), [])
            of_grid.append((student, recipe, precision))
    compared = {}
    for (student, recipe, _), variants in found.items():
        if len(variants) > 1:
            compared.setdefault((student, recipe), []).extend(variants)
    return compared


COMPARED_SCALES = compared_scales()


COMPARED = comparisons(config, ZOO)  # pruned student: (variant, baseline) pairs
SEEDS_COMPARED = comparisons_over_seeds(
    config, ZOO
)  # student: such a pair of each seed


# A student that is trained on several texts: its other selves STUDENT@TEXT.
OTHER_TEXTS = other_texts(config)


def compared_texts(student):
    """(variant, baseline) for each other text of a student; the baseline learns the first."""
    first, *others = OTHER_TEXTS[student]
    as_trained = (UNPRUNED, "float32")
    return [((other, *as_trained), (first, *as_trained)) for other in others]


def compared():
    """The files of these comparisons; none where nothing is pruned."""
    return expand(
        EVALUATION / "comparisons/{pair[0]}/{pair[1]}.json", pair=list(COMPARED)
    )


def compared_seeds():
    """The files of comparisons over seeds; none where no student has several."""
    return expand(EVALUATION / "seeds/{student}.json", student=SEEDS_COMPARED)


def translations_of_pairs(pairs):
    """The translations of all variants in pairs of (variant, baseline)."""
    return [file for pair in pairs for one in pair for file in translations_of(*one)]


def named_pairs(pairs):
    """(variant, baseline, translations of the one, of the other) for each pair."""
    return [
        (*("/".join(one) for one in pair), *(translations_of(*one) for one in pair))
        for pair in pairs
    ]


def measurements(kind):
    """The quality or size files of all variants; of quality the one by COMET too, where it is asked for."""
    files = [EVALUATION / kind / f"{'/'.join(variant)}.json" for variant in SCORED]
    by_comet = kind == "quality" and "comet" in config["evaluation"]
    return [*files, EVALUATION / "comet.json"] if by_comet else files


def shortlist_of(student):
    """The shortlist of a student's vocabulary."""
    return SHORTLISTS / vocabulary_of(student).parent.name / "shortlist.safetensors"


def shortlisted_variants():
    """The variants that are measured with their shortlist too, and its file; none where there are no shortlists.

    They are those that the papers run so, in 8 bits, however made; without any, the students as trained.
    """
    if "shortlist" not in config:
        return {}
    in_bytes = [variant for variant in VARIANTS if grid_of(variant[2]) in INTEGER_GRIDS]
    trained = [variant for variant in VARIANTS if variant[1:] == (UNPRUNED, "float32")]
    return {variant: shortlist_of(variant[0]) for variant in in_bytes or trained}


SHORTLISTED = shortlisted_variants()


def shortlist_path(variant):
    """The file of a variant that is measured with a shortlist too, None of others."""
    return str(SHORTLISTED[variant]) if variant in SHORTLISTED else None


def gpu_students():
    """(variant, model folder, shortlist) of all that is timed on a GPU; no shortlists: None.

    With a shortlist each of them, as WNGT20's table 4 has students in float32 and float16.
    """
    listed = "shortlist" in config
    return [
        (
            "/".join(variant),
            str(MODELS.joinpath(*variant)),
            str(shortlist_of(variant[0])) if listed else None,
        )
        for variant in VARIANTS
    ]


def gpu_shortlists():
    """The files of these shortlists, once each."""
    return list(dict.fromkeys(file for *_, file in gpu_students() if file))


def benchmarked_shapes():
    """The zoo's entries of what the runtime's benchmark is of, so that it is run again when they change."""
    engines = config["evaluation"].get("engines", {"architectures": []})
    return {name: ZOO[name] for name in engines["architectures"]}


def shortlist_measurements():
    """What is measured of variants with their shortlist."""
    return [
        EVALUATION / "shortlist" / f"{'/'.join(variant)}.json"
        for variant in SHORTLISTED
    ]
