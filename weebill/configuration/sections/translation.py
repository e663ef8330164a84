"""Settings of a whole `translation` experiment, with its training text for students."""

from dataclasses import field
from typing import Annotated, Any, Literal

from weebill.configuration.sections.corpora import Corpus, TextSet
from weebill.configuration.sections.evaluation import Evaluation, Report, Variants
from weebill.configuration.sections.origins import Fetched
from weebill.configuration.sections.published import Published
from weebill.configuration.sections.quantization import Quantization
from weebill.configuration.sections.rehearsed import OwnArchitectures, Rehearsed
from weebill.configuration.sections.scores import Cleaning, ScoredText, Scores
from weebill.configuration.sections.scoring import ReverseTeacher, Scoring, Teacher
from weebill.corpus.robustness import Augmentation
from weebill.pruning.methods import METHODS
from weebill.settings import (
    Amount,
    Chosen,
    Count,
    Distinct,
    Few,
    FolderName,
    Ge,
    Language,
    Le,
    Name,
    Named,
    Names,
    Several,
    Shards,
    section,
)
from weebill.translation.training.settings import Hardware, TrainingConfig

ExperimentSeed = Annotated[int, Ge(0), Le(4294967295)]
KindOfText = Literal["parallel", "forward", "backward", "backward-forward"]
Precision = Literal["auto", "float32", "bfloat16"]
Method = Annotated[Any, Chosen("method", METHODS)]


@section
class Distillation:
    """Settings of translation by the teacher, and by the reverse teacher, whose text is all monolingual."""

    beam: Few = 8
    """Hypotheses for parallel text; the one nearest to the reference is chosen."""
    monolingual_beam: Few = 4
    """Beam for monolingual text; the best hypothesis is chosen."""
    shards: Shards = 1
    """Parts of each corpus; each part is translated by a separate job."""
    length_normalisation: Annotated[float, Ge(0), Le(10)] = 1.0
    """Exponent A in the score log p / length^A of a hypothesis."""
    max_source_tokens: Count = 200
    """Longest source, in pieces; longer sentences are cut off, and the log of each shard counts them."""
    precision: Precision = "auto"
    """Type of the linear layers' products: `float32`, `bfloat16` or `auto`. `bfloat16` is faster on processors with
    AVX-512 BF16 and on GPUs since NVIDIA's Ampere, and has the same BLEU within 0.1 on Multi30k; `auto` is `bfloat16`
    on these, and `float32` on others. On a GPU, whole models have this type, also a reverse model that scores."""
    min_teacher_bleu: Annotated[float, Ge(0), Le(100)] = 1.0
    """Smallest BLEU on the validation set, 0 to 100, of each member of the teacher and of the reverse teacher. If one
    has less, the run stops before it translates, because students learn nothing from a very bad teacher. The BLEU is
    the one that the member's training recorded; a Hugging Face model translates the first 200 sentences for it. 0
    skips the check. A teacher is checked once, when it is new or has changed."""
    max_repeats: Amount = 3
    """Most times that a translation may say a word, or a phrase of up to 12 words, in a row if its source does not.
    Pairs with more are left out. 0 keeps all."""
    scores: Scores = Scores()
    """Scores of source and translation."""
    training_texts: dict[Name, Distinct[KindOfText]] = field(default_factory=dict)
    """Training texts of students: a name for each text, and the kinds of text in it. Students without the name of a
    text learn the first; without this key, they learn all text."""
    augmentation: Augmentation | None = None
    """Changed copies of rows that are added to every training text of students; without this key there are none."""


@section
class Languages:
    """Direction of translation."""

    source: Language
    """Code of the source language: a tag of BCP 47 such as `en`, `yue`, `sr-Latn` or `zh-TW`."""
    target: Language
    """Code of the target language, such as `de`. Importers, models and metrics get it in their own spelling."""


@section
class Bleu:
    """Tokens of BLEU; every score's signature names them."""

    tokenizer: Literal["13a", "char", "flores200", "intl", "ja-mecab", "ko-mecab", "zh"] | None = (
        None
    )
    """sacreBLEU's tokenizer for every BLEU of the experiment: on test sets, in validations, and for the choice among
    the n best. By default the one that sacreBLEU advises: `zh` for Chinese, `ja-mecab`, `ko-mecab`, `flores200`
    (spBLEU) for Thai, Lao, Khmer, Burmese and Tibetan script, `13a` for others. `flores200` is fetched; `char` needs
    no file."""


@section
class Vocabulary:
    """SentencePiece model that both languages share, or one for each language."""

    size: Annotated[int, Ge(100), Le(65536)] | None = None
    """Pieces of the vocabulary of all models in the experiment; by default each model has its size in
    `models.yaml`."""
    text: Literal["parallel", "all"] = "parallel"
    """Training text of the vocabulary: the `parallel` corpora, which have equal amounts of both languages, or `all`
    corpora. At most a million sentences of each side are drawn at random."""
    byte_fallback: bool = True
    """Use 256 of the pieces for bytes, so that rare characters, such as emoji and Han letters in names, can be read
    and written. Otherwise such characters are unknown and lost."""
    character_coverage: Annotated[float, Ge(0.98), Le(1)] | None = None
    """Share of the text's characters that have their own piece; the commonest characters get one. By default 0.9995,
    or 1 for less than 4,000 pieces without `byte_fallback`."""
    normalizer: Literal["weebill", "identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"] = (
        "weebill"
    )
    """Replacement of characters in the SentencePiece model, which every export contains. `weebill` does not change
    cleaned text, composes letters and marks, and folds punctuation like `cleaning.punctuation`; the others are
    SentencePiece's. Those with `nfkc` also rewrite characters that languages need, such as full-width punctuation in
    Chinese, Thai's SARA AM and the ² of m²; those with `_cf` make all text lower-case."""
    joint: bool = True
    """One vocabulary and one table of embeddings for both languages. `false`: each language has its own, which suits
    languages in different scripts; `size` is then that of the target."""
    source_size: Annotated[int, Ge(100), Le(65536)] | None = None
    """Pieces of the source's own vocabulary, if `joint` is false; by default as many as for the target."""


@section
class Shortlist:
    """Lexical shortlist from the distilled corpus, aligned by eflomal."""

    candidates: Annotated[int, Ge(1), Le(1000)] = 50
    """Number of target pieces for each source piece, the most probable ones."""
    frequent: Annotated[int, Ge(0), Le(1000)] = 50
    """Number of target pieces for every sentence, the most frequent ones."""
    pairs: Count = 1_000_000
    """Largest number of aligned pairs, drawn with the experiment's `seed`. A million take about ten minutes and 3
    GB."""


@section
class Exports:
    """Exports to the formats of other engines."""

    ctranslate2: Variants | None = None
    """Patterns, same as in `variants`, of unpruned students with self-attention decoders."""
    marian: Variants | None = None
    """Patterns of variants for Marian, and for translators in browsers and on desktops. Pruned layers are padded with
    zeros, because all layers have the same shape in Marian."""
    firefox: Variants | None = None
    """Patterns of `int8` variants for Firefox and other programs with Bergamot's engine. The embedding width must be
    a multiple of 64, the vocabulary's size a multiple of 8. Pruned layers are padded with zeros, as for `marian`."""
    onnx: Variants | None = None
    """Patterns of variants of any student."""


@section
class Translation(Fetched, OwnArchitectures, Rehearsed):
    """Experiment of the kind `translation`, the default."""

    kind: Literal["translation"] = "translation"
    """Kind of experiment: `translation` has the keys on this page; those of `metric` experiments are in
    [metric.md](metric.md), those of `generation` in [generation.md](generation.md)."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: deliberate damage, weights, order of the data, bootstrap."""
    languages: Languages
    corpora: Named[Corpus]
    """Training text: a name for each corpus, and its importer."""
    validation: TextSet | Several[TextSet]
    """Importer, or list of importers, of the text that is used to choose the best checkpoint of each training."""
    validation_may_overlap_tests: bool = False
    """`true` permits the same text in `validation` and `test_sets`, as in WNGT20."""
    test_sets: Named[TextSet]
    """A name for each test set and its importer; `corpora` must not contain any of this text."""
    cleaning: Cleaning = Cleaning()
    back_translation: ScoredText = ScoredText()
    """Scores of back-translated text."""
    scoring: Scoring = Scoring()
    vocabulary: Vocabulary = Vocabulary()
    published: Published | None = None
    """Firefox's student, from which the experiment's students start; without this key they start from random
    weights."""
    teacher: Teacher
    reverse_teacher: ReverseTeacher | None = None
    """Model that translates `monolingual-target` corpora into the source language. It has its own vocabulary, and is
    trained here on the parallel corpora with swapped sides."""
    students: Names
    """Entries of `models.yaml`. `STUDENT@TEXT` is the same student trained on another training text, `STUDENT~SEED`
    with another seed."""
    training: TrainingConfig = TrainingConfig()
    """Settings of the students' training."""
    distillation: Distillation = Distillation()
    shortlist: Shortlist | None = None
    """Lexical shortlist from the distilled corpus, aligned by eflomal. The 8-bit students of every grid are measured
    with it (if there are none, the unpruned float32 students); on a GPU, all students are timed with it. Without this
    key there is none."""
    pruning: dict[Name, Method] = field(default_factory=dict)
    """A name for each recipe, with a method and its settings; `unpruned` always exists."""
    quantization: Quantization = Quantization()
    variants: Variants = ("*/*/*",)
    """Patterns `STUDENT/RECIPE/PRECISION` of the variants to make and measure; `*` matches any name. Each student's
    `unpruned/float32` is always made, because its other variants are compared with it."""
    exports: Exports = Exports()
    """Variants that are exported to the formats of other engines, in `exports/STUDENT/RECIPE/PRECISION/FORMAT`.
    Exports contain float32 weights for every grid (CTranslate2 rounds to its own int8). Without this key, a run can
    still make any such folder on request."""
    bleu: Bleu = Bleu()
    evaluation: Evaluation = Evaluation()
    report: Report = Report()
    hardware: Hardware = Hardware()
    """Devices that train, translate and clean. Calibration always runs on the CPU. Speed is always measured on the
    CPU, and also on a GPU if there is one. Test sets are translated in float32 on both, so that qualities can be
    compared; a speed on a GPU is shown with the BLEU of its own type of numbers."""
