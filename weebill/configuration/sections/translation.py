"""Settings of a whole experiment of the kind `translation`."""

from dataclasses import field
from typing import Annotated, Literal

from weebill.configuration.sections.corpora import Corpus, TextSet
from weebill.configuration.sections.distillation import Distillation
from weebill.configuration.sections.evaluation import Evaluation, Report
from weebill.configuration.sections.pruning import Method
from weebill.configuration.sections.quantization import Quantization
from weebill.configuration.sections.scores import Cleaning, ScoredText
from weebill.configuration.sections.scoring import Scoring
from weebill.configuration.sections.translators import ReverseTeacher, Teacher
from weebill.settings import (
    Count,
    FolderName,
    Ge,
    Language,
    Le,
    MinLen,
    Name,
    Pattern,
    Place,
    Unique,
    section,
)
from weebill.translation.training.settings import Hardware, TrainingConfig

ExperimentSeed = Annotated[int, Ge(0), Le(4294967295)]
Variants = Annotated[
    tuple[
        Annotated[str, Pattern("^[^/]+/[^/]+/[^/]+$", "a pattern STUDENT/RECIPE/PRECISION")],
        ...,
    ],
    MinLen(1),
]


@section
class Languages:
    """The direction of translation."""

    source: Language
    """Code of the source language, such as `en`."""
    target: Language
    """Code of the target language, such as `de`."""


@section
class Vocabulary:
    """The SentencePiece model that both languages share."""

    size: Annotated[int, Ge(100), Le(65536)] | None = None
    """Pieces of the vocabulary, for all models of the experiment; without it each model takes the size that
    `models.yaml` gives it."""


@section
class Shortlist:
    """A lexical shortlist of the distilled corpus, which eflomal aligns."""

    candidates: Annotated[int, Ge(1), Le(1000)] = 50
    """Target pieces of each source piece, the most probable."""
    frequent: Annotated[int, Ge(0), Le(1000)] = 50
    """Target pieces for every sentence, the most frequent."""
    pairs: Count = 1_000_000
    """Most pairs that are aligned, drawn with the experiment's `seed`; a million take some ten minutes and 3 GB."""


@section
class Exports:
    """Exports to the formats of other engines."""

    ctranslate2: Variants | None = None
    """Patterns as in `variants`; unpruned students with self-attention decoders."""
    marian: Variants | None = None
    """Patterns of variants for Marian and the translators of browsers and desktops. Pruned layers are filled up with
    zeros, as Marian's layers are all of one shape."""
    onnx: Variants | None = None
    """Patterns of variants; any student."""


@section
class Translation:
    """An experiment of the kind `translation`, the default."""

    kind: Literal["translation"] = "translation"
    """Kind of experiment: `translation` has the keys on this page; those of `metric` experiments are in
    [metric.md](metric.md), those of `generation` in [generation.md](generation.md)."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: damage done on purpose, weights, order of the data, bootstrap."""
    languages: Languages
    """Direction of translation."""
    corpora: Annotated[dict[Name, Corpus], MinLen(1)]
    """Training text: a name for each corpus and the importer that reads it."""
    validation: TextSet | Annotated[tuple[TextSet, ...], MinLen(1)]
    """Importer, or a list of them, whose text together chooses the best checkpoint of each training."""
    validation_may_overlap_tests: bool = False
    """`true` permits the same text in `validation` and `test_sets`, as in WNGT20."""
    test_sets: Annotated[dict[Name, TextSet], MinLen(1)]
    """A name for each test set and its importer; never anything that `corpora` holds."""
    local_dir: Place | None = None
    """Folder in which the file of every address is looked for before it is fetched, by the names given with each
    importer: for machines without a network. The file of an address is looked for by the last part of the address."""
    download_cache: Place | None = None
    """Folder of fetched files, shared by experiments; by default `downloads` in `$WEEBILL_CACHE` or else in
    `~/.cache/weebill`."""
    cleaning: Cleaning = Cleaning()
    """How the corpora are cleaned."""
    back_translation: ScoredText = ScoredText()
    """Scores of back-translated text."""
    scoring: Scoring = Scoring()
    """Models that score."""
    vocabulary: Vocabulary = Vocabulary()
    """SentencePiece model that both languages share."""
    teacher: Teacher
    """Model that translates the students' training text."""
    reverse_teacher: ReverseTeacher | None = None
    """Model that translates `monolingual-target` corpora into the source language; trained here on the parallel
    corpora with their sides swapped, with a vocabulary of its own."""
    students: Annotated[tuple[str, ...], MinLen(1), Unique()]
    """Entries of `models.yaml`; `STUDENT@TEXT` is the same student trained on another training text, `STUDENT~SEED`
    from another seed."""
    training: TrainingConfig = TrainingConfig()
    """How to train the students."""
    distillation: Distillation = Distillation()
    """How the teacher translates, and the reverse teacher, whose text is all monolingual."""
    shortlist: Shortlist | None = None
    """Makes a lexical shortlist of the distilled corpus, which eflomal aligns, and measures the 8-bit students of
    every grid with it (without any, the unpruned float32 ones), and on a GPU the speed of all students; without this
    key there is none."""
    pruning: dict[Name, Method] = field(default_factory=dict)
    """A name for each recipe, a method and its settings; `unpruned` always exists."""
    quantization: Quantization = Quantization()
    """Precisions below float32."""
    variants: Variants = ("*/*/*",)
    """Patterns `STUDENT/RECIPE/PRECISION` of what to make and measure; `*` stands for any. Each student's
    `unpruned/float32` is always made: the others are compared with it."""
    exports: Exports = Exports()
    """Variants that are exported to the formats of other engines, to `exports/STUDENT/RECIPE/PRECISION/FORMAT`, with
    float32 weights whatever the precision's grid (CTranslate2 rounds to its own int8). A run without this key can
    still be asked for any such folder."""
    evaluation: Evaluation = Evaluation()
    """How models are measured."""
    report: Report = Report()
    """How our rows and columns are compared with the papers'."""
    hardware: Hardware = Hardware()
    """Devices that train, translate and clean. Calibration always runs on the CPU; speed is always measured there,
    and on a GPU if there is one."""
