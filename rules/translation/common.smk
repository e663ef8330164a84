"""Common parts of a translation experiment's stages."""

from weebill.configuration.resources import (
    alignment_memory,
    language_model_memory,
    scoring_memory,
    search_memory,
    training_memory,
    vocabulary_memory,
)
from weebill.experiment.scores import components, scores_of, section_of
from weebill.experiment.translating_models import (
    hub_folder,
    hub_models,
    hugging_face_models,
    languages_of,
)
from weebill.experiment.zoo import member_of
from weebill.experiment.student_names import seed_of, text_of, with_students
from weebill.experiment.precisions import PRECISIONS, quantized
from weebill.pruning.methods import METHODS, pruning_method
from weebill.pruning.recipes import (
    comparisons,
    comparisons_over_seeds,
    pruned_students,
)
from weebill.experiment.training_texts import (
    corpora_of,
    learnt_kinds,
    other_texts,
    training_texts,
)
from weebill.experiment.variants import expand_exports, measured_variants
from weebill.experiment.vocabularies import vocabulary_files, vocabulary_size
from weebill.corpus.cleaning_stages import STAGES
from weebill.corpus.importers.inputs import reads_files
from weebill.errors import nearest

ZOO = with_students(ZOO, config["students"])

CORPORA = RESULTS / "corpora"
SOURCES_LOCK = CORPORA / "sources.lock.json"
SCORING = RESULTS / "scoring"
REVERSE_SCORER = SCORING / "reverse_model"
VALIDATION = RESULTS / "validation.parquet"
TEST_SETS = RESULTS / "test_sets"
TEST_TABLES = [TEST_SETS / f"{name}.parquet" for name in config["test_sets"]]
VOCABULARY = RESULTS / "vocabulary"
REVERSE_VOCABULARY = SCORING / "vocabulary"
TEACHER = RESULTS / "teacher"
REVERSE_TEACHER = RESULTS / "reverse_teacher"
PUBLISHED = RESULTS / "published"
HUGGING_FACE = RESULTS / "hugging_face"
BACK_TRANSLATED = RESULTS / "back_translated"
DISTILLED = RESULTS / "distilled"
ALIGNED = DISTILLED / "aligned"
SHORTLISTS = RESULTS / "shortlist"
TEACHER_BLEU = EVALUATION / "teacher_bleu.json"
REVERSE_TEACHER_BLEU = EVALUATION / "reverse_teacher_bleu.json"
RESET_CHECKPOINTS = RESULTS / "reset_checkpoints"
CALIBRATION = RESULTS / "calibration"
EXPORTS = RESULTS / "exports"


def bleu_target(side):
    """Return the language of a side, or the configured tokenizer, which determine the tokens of BLEU."""
    return config["bleu"].get("tokenizer", config["languages"][side])


def training_in(side, training):
    """Return the settings of a training, with the language of a side of the experiment as target language."""
    return {**training, "language": bleu_target(side)}


TRAINING = training_in("target", config["training"])
PARALLEL = corpora_of(config, "parallel")
SCORER = config["scoring"].get("reverse_model", {})
BACK_TEACHER = config.get("reverse_teacher", {})
VARIANTS = measured_variants(
    config
)  # (student, recipe, precision), in the order of the configuration
QUANTIZED = quantized(config["quantization"])  # precision: its settings


wildcard_constraints:
    corpus="[^/]+",
    test_set="[^/]+",
    size="[0-9]+" if config["vocabulary"]["joint"] else "[0-9]+-[0-9]+",
    model="[^/]+",
    member="[0-9]+",
    shard="[0-9]+",
    student="[^/]+",
    recipe="[^/]+",
    precision=either(PRECISIONS),


def training_resources(model, training):
    """Return memory and accelerators of a job that trains; model: wildcards → the model's name in the zoo."""

    def memory(wildcards, input, attempt):
        name, batch = model(wildcards), training["batch_tokens"]
        return attempt * training_memory(config, name, batch, input.corpora, ZOO)

    return {"mem_mb": memory, **accelerators(config["hardware"]["devices"])}


def student_resources():
    """Return memory and accelerators of a job that trains a student."""
    return training_resources(lambda wildcards: wildcards.student, config["training"])


def search_resources(models=None):
    """Return memory and accelerators of a job that translates on one device; models: name of an input, or all."""
    on_cpu = config["hardware"]["accelerator"] == "cpu"

    def memory(wildcards, input, threads, attempt):
        found = input if models is None else getattr(input, models)
        return attempt * search_memory(found, threads if on_cpu else 1)

    return {"mem_mb": memory, **accelerators(1)}


def sources_lock(several):
    """Return the lock file for entries that read files; its age is ignored, because other corpora also change it."""
    return [ancient(SOURCES_LOCK)] if reads_files(several) else []


def entry_of(model):
    """Return the zoo's entry of a model; end the run if there is none, e.g. for a misspelt student in a target."""
    if model not in ZOO:
        suggestion = nearest(model, [*config["students"], *ZOO])
        stop(f"{CONFIG_FILE}: students: has no '{model}', nor has the zoo{suggestion}")
    return ZOO[model]


def in_vocabulary(folder, size="{size}"):
    """Return the file of the joint vocabulary of a size, or the files of the target's and the source's."""
    return [folder / size / name for name in vocabulary_files(config)]


def vocabulary_of(model, reverse=False):
    """Return the vocabulary files of a zoo model; reverse: True if it translates into the source language."""
    folder = REVERSE_VOCABULARY if reverse else VOCABULARY
    return in_vocabulary(folder, vocabulary_size(config, entry_of(model), reverse))


def activation_ranges(precision):
    """Return the input function for a float32 model's activation ranges; no file if activations stay float32."""

    def ranges(wildcards):
        made = precision_of(precision.format(**wildcards))
        file = str(CALIBRATION / "{student}/{recipe}.json")
        return expand(file, **wildcards) if made.activation_scale else []

    return ranges


def precision_of(name):
    """Return the settings of a precision; end the run if the configuration has none for it."""
    if name not in QUANTIZED:
        stop(
            f"{CONFIG_FILE}: quantization: makes no precision '{name}', but {', '.join(QUANTIZED)}"
        )
    return QUANTIZED[name]


def recipe_of(name):
    """Return a recipe's method and settings; end the run if the configuration has no recipe of this name."""
    if name not in config["pruning"]:
        known = ", ".join(config["pruning"]) or "nothing"
        stop(f"{CONFIG_FILE}: pruning: has no recipe '{name}', but {known}")
    return config["pruning"][name]


def pruning_start(wildcards):
    """Return a recipe's initial model: a checkpoint, the student, or a model whose shape is trained from scratch."""
    method = pruning_method(recipe_of(wildcards.recipe))
    if method.shape_from:
        return MODELS / wildcards.student / method.shape_from / "float32"
    if not method.reset_to:
        return MODELS / wildcards.student / "unpruned/float32"
    return RESET_CHECKPOINTS / wildcards.student / str(method.reset_to)


def published_files():
    """Return the folder of a published student's files: the user's own, or one for fetched files."""
    folder = config["published"].get("folder")
    return present([folder]) if folder else [PUBLISHED / "files"]


def hugging_face_folder(section):
    """Return the folder of a Hugging Face model: the user's own, or one that is fetched by name."""
    name = hub_folder(section)
    return present([section["hugging_face"]]) if name is None else [HUGGING_FACE / name]


def translations_by(origin):
    """Return the language pairs requested from a model of the hub, each with True if the user named the codes."""
    models = hugging_face_models(config)
    return [
        (model.languages, model.coded)
        for model in models
        if (model.place, model.revision) == origin
    ]


def teacher_folders(section="teacher", folder=TEACHER):
    """Return the folders of models that translate together: the ensemble's members, or a Hugging Face folder."""
    teacher = config[section]
    if teacher.get("published"):
        return [PUBLISHED / "float32"]
    if "hugging_face" in teacher:
        return hugging_face_folder(teacher)
    return expand(folder / "member-{member}", member=range(teacher["members"]))


def reverse_teacher_folders():
    """Return the model folders of the reverse teacher's ensemble."""
    return teacher_folders("reverse_teacher", REVERSE_TEACHER)


def reverse_scorer():
    """Return the model that scores sources by targets: a separate one, or the reverse teacher's first member."""
    if "hugging_face" in SCORER:
        return hugging_face_folder(SCORER)
    if SCORER:
        return [REVERSE_SCORER]
    return reverse_teacher_folders()[:1] if BACK_TEACHER else []


def trained_teachers():
    """Return the teacher's members that are trained here."""
    return teacher_folders() if "architecture" in config["teacher"] else []


def final_targets():
    """Return the files that `snakemake` without a target makes: tables and figures of all measured variants."""
    exports = [
        EXPORTS.joinpath(*variant, form) for form, variant in expand_exports(config)
    ]
    return [
        TABLES / "cleaning.csv",
        *([TABLES / "filters.csv"] if "labelled" in config["evaluation"] else []),
        *([TABLES / "filters_damage.csv"] if damaged() else []),
        *(
            [TABLES / "cleaning_students.csv"]
            if "cleaning" in config["evaluation"]
            else []
        ),
        TABLES / "head_map.csv",
        *exports,
        *report_targets(),
    ]
