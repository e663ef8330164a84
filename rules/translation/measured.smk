"""Measured models: the variants, the teacher, and the files of each."""

from weebill.experiment.precisions import INTEGER_GRIDS, grid_of
from weebill.experiment.variants import UNPRUNED, timed_on_gpus
from weebill.experiment.searches import is_search, mbr_name, search_name

TRANSLATIONS = EVALUATION / "translations"
ENGINES = EVALUATION / "engines.json"
GPU_SPEED = EVALUATION / "gpu_speed.json"
GPU_TEXT = config["evaluation"]["speed"].get("gpu_text", {})
BATCH_SIZE = config["evaluation"]["speed"]["batch_size"]
# Search settings of the teacher with any beam, and of students with a beam.
BY_TEACHER = {
    key: config["distillation"][key]
    for key in ("length_normalisation", "max_source_tokens")
}
BY_BEAM = {"length_normalisation": BY_TEACHER["length_normalisation"]}


def measured_searches():
    """Return the search settings of each variant, for both scoring and timing, in the order of the tables.

    The teacher searches with its beam and greedily.  Students search greedily; unpruned float32 students also with
    `evaluation.student_beam`.
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
    """Return the teacher's variant by minimum Bayes risk, if it is configured; it is scored but not timed."""
    mbr = config["evaluation"].get("mbr")
    return [("teacher", mbr_name(mbr["candidates"]), "float32")] if mbr else []


def comet_files():
    """Return the user's own files of the COMET model, if the configuration names one."""
    comet = config["evaluation"].get("comet", {})
    return present([comet[key] for key in ("model", "encoder") if key in comet])


SCORED = [*MEASURED, *chosen_by_mbr()]


def search_of(student, recipe, precision):
    """Return a variant's search settings; students of other seeds, which are only compared, search greedily."""
    of_other_seed = {"batch_size": BATCH_SIZE, "beam": 1}
    return MEASURED.get((student, recipe, precision), of_other_seed)


def model_of(student, recipe, precision):
    """Return the model folders of a variant; several are an ensemble."""
    if student == "teacher":
        return teacher_folders()
    return [MODELS / student / (UNPRUNED if is_search(recipe) else recipe) / precision]


def largest_search_memory():
    """Return the MiB that one process needs for the largest measured model."""
    return max(search_memory(model_of(*variant)) for variant in MEASURED)


def translations_of(student, recipe, precision, test_sets=config["test_sets"]):
    """Return the files of a variant's translations of some test sets, by default all."""
    folder = TRANSLATIONS / student / recipe / precision
    return expand(folder / "{test_set}.txt", test_set=test_sets)


# Test sets that are also measured by original language.
BY_ORIGIN = {
    name: config["test_sets"][name]
    for name in config["evaluation"].get("original_languages", [])
}


def translations_by_origin(*variant):
    """Return the files of a variant's translations of the test sets in BY_ORIGIN."""
    return translations_of(*variant, test_sets=BY_ORIGIN)


def scored(student):
    """Return the variants of a student, or of the teacher, whose quality and size are measured."""
    found = [variant for variant in SCORED if variant[0] == student]
    if not found:
        entry_of(student)  # suggests a name for a misspelt one
        stop(f"{CONFIG_FILE}: students: has no '{student}'; add it, to measure it")
    return found


def measured_files_of(variants):
    """Return the model folders and translations of variants by their names."""
    return {
        "/".join(variant): (
            [str(folder) for folder in model_of(*variant)],
            translations_of(*variant),
        )
        for variant in variants
    }


def benchmarked():
    """Return the file of the runtime's benchmark, if the configuration asks for it."""
    return [ENGINES] if "engines" in config["evaluation"] else []


def timed_on_gpu():
    """Return the file of the speeds on a GPU, if the hardware has one."""
    return [] if config["hardware"]["accelerator"] == "cpu" else [GPU_SPEED]


def compared_scales():
    """Return the variants that differ only in the formula of their activation scales, by (student, recipe)."""
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


COMPARED = comparisons(config, ZOO)  # (student, recipe): (variant, baseline) pairs
SEEDS_COMPARED = comparisons_over_seeds(
    config, ZOO
)  # student: for each comparison, a (variant, baseline) pair of each seed


# Student that is trained on several texts: its names, STUDENT and STUDENT@TEXT.
OTHER_TEXTS = other_texts(config)


def compared_texts(student):
    """Return (variant, baseline) for each other text of a student; the baseline is trained on the first text."""
    first, *others = OTHER_TEXTS[student]
    as_trained = (UNPRUNED, "float32")
    return [((other, *as_trained), (first, *as_trained)) for other in others]


def steps_of(student):
    """Return (variant, baseline) for each variant of a student; the unpruned float32 one's is the teacher.

    A pruned variant in other numbers is compared with the pruned float32 one too, and a grid's fine-tuned, or otherwise
    varied, precision with the grid's plain one.
    """
    whole, teacher = (student, UNPRUNED, "float32"), next(iter(MEASURED))
    every, pairs = scored(student), [(whole, teacher)]
    for one in every:
        _, recipe, precision = one
        before = [(student, recipe, name) for name in ("float32", grid_of(precision))]
        found = dict.fromkeys([whole, *(other for other in before if other in every)])
        pairs += [(one, other) for other in found if other != one]
    return pairs


def whole_students():
    """Return the students whose unpruned float32 variant is measured."""
    return [student for student, *kind in VARIANTS if kind == [UNPRUNED, "float32"]]


def pruned_pairs(student):
    """Return the comparisons of all pruned variants of a student."""
    return [
        pair for key, pairs in COMPARED.items() if key[0] == student for pair in pairs
    ]


def compared():
    """Return the files of the comparisons of pruned students; none if nothing is pruned."""
    students = dict.fromkeys(student for student, _ in COMPARED)
    return expand(EVALUATION / "comparisons/{student}.json", student=students)


def compared_seeds():
    """Return the files of comparisons over seeds; none if no student has several seeds."""
    return expand(EVALUATION / "seeds/{student}.json", student=SEEDS_COMPARED)


def translations_of_pairs(pairs):
    """Return the translations of all variants in pairs of (variant, baseline)."""
    return [file for pair in pairs for one in pair for file in translations_of(*one)]


def named_pairs(pairs):
    """Return (variant, baseline, translations of the variant, translations of the baseline) for each pair."""
    return [
        (*("/".join(one) for one in pair), *(translations_of(*one) for one in pair))
        for pair in pairs
    ]


def measurements(kind):
    """Return the quality or size files of all students; quality includes COMET if the configuration has it."""
    students = dict.fromkeys(student for student, _, _ in SCORED)
    files = [EVALUATION / kind / f"{student}.json" for student in students]
    by_comet = kind == "quality" and "comet" in config["evaluation"]
    return [*files, EVALUATION / "comet.json"] if by_comet else files


def measurements_by_origin():
    """Return the files of BLEU by original language; an empty list if it is not configured."""
    return measurements("original_languages") if BY_ORIGIN else []


def shortlist_of(student):
    """Return the shortlist of a student's vocabulary."""
    size = vocabulary_size(config, entry_of(student))
    return SHORTLISTS / size / "shortlist.safetensors"


def shortlisted_variants():
    """Return the variants that are also measured with a shortlist, and its file; none if there are no shortlists.

    As in the papers, these are all 8-bit variants; if there are none, the unpruned float32 students.
    """
    if "shortlist" not in config:
        return {}
    in_bytes = [variant for variant in VARIANTS if grid_of(variant[2]) in INTEGER_GRIDS]
    trained = [variant for variant in VARIANTS if variant[1:] == (UNPRUNED, "float32")]
    return {variant: shortlist_of(variant[0]) for variant in in_bytes or trained}


SHORTLISTED = shortlisted_variants()


def shortlist_path(variant):
    """Return the shortlist of a variant that is also measured with one, None for other variants."""
    return str(SHORTLISTED[variant]) if variant in SHORTLISTED else None


def gpu_students():
    """Return (variant, model folder, shortlist or None) of the students that are timed on a GPU.

    Every student has its shortlist, because WNGT20's table 4 shows float32 and float16 with shortlists.
    """
    listed = "shortlist" in config
    return [
        (
            "/".join(variant),
            str(MODELS.joinpath(*variant)),
            str(shortlist_of(variant[0])) if listed else None,
        )
        for variant in timed_on_gpus(config)
    ]


def gpu_shortlists():
    """Return the shortlists of the students that are timed on a GPU, each once."""
    return list(dict.fromkeys(file for *_, file in gpu_students() if file))


def benchmarked_shapes():
    """Return the zoo's entries of the runtime's benchmark, which runs again if they change."""
    engines = config["evaluation"].get("engines", {"architectures": []})
    return {name: ZOO[name] for name in engines["architectures"]}


def shortlist_measurements():
    """Return the files of measurements of variants with their shortlist."""
    return [
        EVALUATION / "shortlist" / f"{'/'.join(variant)}.json"
        for variant in SHORTLISTED
    ]
