"""Settings of a whole `translation` experiment."""

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
    """Direction of translation."""

    source: Language
    """Code of the source language, such as `en`."""
    target: Language
    """Code of the target language, such as `de`."""


@section
class Vocabulary:
    """SentencePiece model that both languages share."""

    size: Annotated[int, Ge(100), Le(65536)] | None = None
    """Pieces of the vocabulary of all models in the experiment; by default each model has its size in
    `models.yaml`."""


@section
class Shortlist:
    """Lexical shortlist of the distilled corpus, which eflomal aligns."""

    candidates: Annotated[int, Ge(1), Le(1000)] = 50
    """Number of target pieces for each source piece, the most probable ones."""
    frequent: Annotated[int, Ge(0), Le(1000)] = 50
    """Number of target pieces for every sentence, the most frequent ones."""
    pairs: Count = 1_000_000
    """Largest number of aligned pairs, drawn with the experiment's `seed`; a million take about ten minutes and 3
    GB."""


@section
class Exports:
    """Exports to the formats of other engines."""

    ctranslate2: Variants | None = None
    """Patterns, same as in `variants`, of unpruned students with self-attention decoders."""
    marian: Variants | None = None
    """Patterns of variants for Marian and the translators of browsers and desktops. Pruned layers are padded with
    zeros, because all layers have the same shape in Marian."""
    onnx: Variants | None = None
    """Patterns of variants; any student."""


@section
class Translation:
    """Experiment of the kind `translation`, the default."""

    kind: Literal["translation"] = "translation"
    """Kind of experiment: `translation` has the keys on this page; those of `metric` experiments are in
    [metric.md](metric.md), those of `generation` in [generation.md](generation.md)."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: deliberate damage, weights, order of the data, bootstrap."""
    languages: Languages
    """Direction of translation."""
    corpora: Annotated[dict[Name, Corpus], MinLen(1)]
    """Training text: a name for each corpus and the importer that reads it."""
    validation: TextSet | Annotated[tuple[TextSet, ...], MinLen(1)]
    """Importer, or list of importers, of the text that chooses the best checkpoint of each training."""
    validation_may_overlap_tests: bool = False
    """`true` permits the same text in `validation` and `test_sets`, as in WNGT20."""
    test_sets: Annotated[dict[Name, TextSet], MinLen(1)]
    """A name for each test set and its importer; `corpora` must not contain any of this text."""
    local_dir: Place | None = None
    """Folder that is searched for every file before its download, for machines without a network. Each importer
    documents the names of its files; the file of an address has the last part of the address as its name."""
    download_cache: Place | None = None
    """Folder of downloaded files, which experiments share; by default `downloads` in `$WEEBILL_CACHE` or else in
    `~/.cache/weebill`."""
    cleaning: Cleaning = Cleaning()
    """Settings of the cleaning of corpora."""
    back_translation: ScoredText = ScoredText()
    """Scores of back-translated text."""
    scoring: Scoring = Scoring()
    """Models that score rows."""
    vocabulary: Vocabulary = Vocabulary()
    """SentencePiece model that both languages share."""
    teacher: Teacher
    """Model that translates the students' training text."""
    reverse_teacher: ReverseTeacher | None = None
    """Model that translates `monolingual-target` corpora into the source language. It has a vocabulary of its own,
    and is trained here on the parallel corpora with their sides swapped."""
    students: Annotated[tuple[str, ...], MinLen(1), Unique()]
    """Entries of `models.yaml`; `STUDENT@TEXT` is the same student trained on another training text, `STUDENT~SEED`
    from another seed."""
    training: TrainingConfig = TrainingConfig()
    """Settings of the students' training."""
    distillation: Distillation = Distillation()
    """Settings of the translation by the teacher and by the reverse teacher, whose text is all monolingual."""
    shortlist: Shortlist | None = None
    """Lexical shortlist of the distilled corpus, which eflomal aligns. The 8-bit students of every grid are measured
    with it (if there are none, the unpruned float32 students), and on a GPU the speed of all students. Without this
    key there is none."""
    pruning: dict[Name, Method] = field(default_factory=dict)
    """A name for each recipe, a method and its settings; `unpruned` always exists."""
    quantization: Quantization = Quantization()
    """Precisions below float32."""
    variants: Variants = ("*/*/*",)
    """Patterns `STUDENT/RECIPE/PRECISION` of the variants to make and measure; `*` matches any name. Each student's
    `unpruned/float32` is always made, because the others are compared with it."""
    exports: Exports = Exports()
    """Variants that are exported to the formats of other engines, in `exports/STUDENT/RECIPE/PRECISION/FORMAT`.
    Exports contain float32 weights for every grid (CTranslate2 rounds to its own int8). Without this key, a run can
    still make any such folder on request."""
    evaluation: Evaluation = Evaluation()
    """Settings of the measurement of models."""
    report: Report = Report()
    """Rows and columns of ours that are compared with the papers'."""
    hardware: Hardware = Hardware()
    """Devices that train, translate and clean. Calibration always runs on the CPU; speed is always measured on the
    CPU, and also on a GPU if there is one."""
