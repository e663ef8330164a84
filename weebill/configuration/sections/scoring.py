"""Settings of the models that translate the training text and that score rows."""

from typing import Annotated

from weebill.settings import (
    Amount,
    Commit,
    Count,
    Few,
    Ge,
    Le,
    Members,
    MinLen,
    NonZeroShare,
    Place,
    Places,
    Sha256,
    Text,
    section,
)
from weebill.translation.training.settings import TrainingConfig


@section
class LanguageCodes:
    """Codes of our languages in a multilingual model."""

    source: Text | None = None
    """The model's code for `languages.source`."""
    target: Text | None = None
    """The model's code for `languages.target`."""


@section
class TranslatingModel:
    """Model that translates: from the zoo, trained here, or from Hugging Face."""

    architecture: str | None = None
    """Entry of `models.yaml`, which is trained here; the alternative is `hugging_face`."""
    hugging_face: Place | None = None
    """Trained sequence-to-sequence model of Hugging Face (MarianMT, NLLB, M2M, mBART, …) with weights in safetensors:
    its folder, or its name on the hub."""
    revision: Commit | None = None
    """Commit of 40 digits, which a name on the hub needs."""
    language_codes: Annotated[LanguageCodes, MinLen(1)] | None = None
    """Codes of our languages in a multilingual model, if they differ from those in `languages`: `{source: eng_Latn,
    target: zho_Hans}`. `source` is always the code of `languages.source`."""


@section
class ReverseModel(TranslatingModel):
    """Model of the reverse direction, trained here on the cleaned parallel corpora with its own vocabulary."""

    training: TrainingConfig = TrainingConfig()
    """Settings of its training, with the same defaults as `training`."""


@section
class ReverseTeacher(TranslatingModel):
    """Teacher of the reverse direction, trained here with its own vocabulary."""

    members: Members = 1
    """Number of models with different seeds that form the ensemble."""
    training: TrainingConfig = TrainingConfig()
    """Settings of its members' training, with the same defaults as `training`."""


@section
class Teacher(ReverseTeacher):
    """Model that translates the students' training text."""

    published: bool = False
    """`true`: the teacher is the student of `published`, in float32; this is the alternative to `architecture` and
    `hugging_face`."""
    back_translated: bool = False
    """`true` also trains the teacher on back-translated text: the reverse teacher's translations of
    `monolingual-target` corpora as source, the text itself as target."""
    threads: Few | None = None
    """CPU threads of each member's training, if not `hardware.threads`. More can be useful, because little else can
    run while a teacher is trained."""


@section
class BicleanerTraining:
    """Training of the lite classifier, on one thread.

    The classifier learns from pairs of the cleaned corpora and damaged copies of them, with other sources or omitted
    words. It learns from 90 % of the pairs; the others (2,000 at most) are used to choose the best epoch.
    """

    pairs: Annotated[int, Ge(100)] = 50_000
    """Largest number of pairs, drawn with the experiment's `seed` from all parallel corpora."""
    cleanest: NonZeroShare = 0.5
    """Share of the drawn pairs that is used if `cleaning.scores` has `language_model_…` or `lexical_translation`: the
    best pairs by the sum of their ranks. Then `pairs` / `cleanest` pairs are drawn."""
    vocabulary: Annotated[int, Ge(100)] = 8000
    """Pieces of its own SentencePiece model (in brackets, here and below, is bicleaner-ai's setting: 32000)."""
    max_pieces: Annotated[int, Ge(2)] = 64
    """Largest number of pieces of a side; the rest is cut off (100)."""
    embedding: Count = 128
    """Width of the embeddings, which GloVe initialises (300)."""
    hidden: Count = 128
    """Width of the network (200)."""
    epochs: Count = 10
    """Largest number of epochs (200)."""
    patience: Count = 3
    """Epochs without a better F1 before the training stops (20)."""
    batch_size: Count = 128
    """Samples in a batch, four for each pair (1024)."""


@section
class Bicleaner:
    """Classifier of bicleaner-ai."""

    model: Place | None = None
    """Folder of a trained model, or the `https://` address of its archive, such as
    `…/bicleaner-ai-data/releases/latest/download/lite-en-de.tgz` (without a network: put that file into `local_dir`).
    A model of the reverse direction also works. Lite models contain code that is executed when they are loaded: use
    only models that you trust."""
    sha256: Sha256 | None = None
    """Checksum of the archive; an address needs one."""
    hard_rules: bool = False
    """`true` gives 0 to pairs that bicleaner-hardrules, or a model's own filters of fluency and pornography, reject;
    `cleaning.language_id` identifies languages instead."""
    training: BicleanerTraining = BicleanerTraining()
    """Training of the lite classifier, if no `model` is given."""


@section
class LanguageModel:
    """KenLM language models of lower-case words and punctuation marks.

    They are estimated here, with modified Kneser-Ney smoothing.
    """

    order: Annotated[int, Ge(2), Le(6)] = 5
    """Words of the longest n-gram."""
    memory_mb: Annotated[int, Ge(100)] = 1000
    """Memory for sorting, in MB; the rest is on disk."""
    sentences: Count = 20_000_000
    """Largest number of lines of a side, drawn at random with the experiment's `seed`. Memory and disk grow with this
    number."""
    prune: Annotated[tuple[Amount, ...], MinLen(1)] = (0,)
    """N-grams with at most this count are left out. There is one count for each length from 1 on; the last is also
    for all longer n-grams. `[0, 0, 1]` leaves out n-grams of three or more words that occur once, which are most of a
    large text."""
    quantized: bool = False
    """`true` stores probabilities in 8 bits, which halves the model; scores change by about 0.01 bits a
    word."""
    source_text: Places | None = None
    """List of text files, plain, `.gz`, `.xz` or `.zst`, for estimating the source's model, normalised as the
    corpora are; by default the cleaned corpora, so that the model scores lines that it has seen."""
    target_text: Places | None = None
    """List of text files for estimating the target's model."""


@section
class LexicalTranslation:
    """Translation probabilities of words, counted in an alignment by eflomal."""

    pairs: Count = 1_000_000
    """Largest number of aligned sentence pairs, drawn with the experiment's `seed`."""
    source_text: Places | None = None
    """List of text files for counting words, in the same formats as for the language model; by default the cleaned
    parallel corpora."""
    target_text: Places | None = None
    """Translations of these files, line by line."""


@section
class Scoring:
    """Models that score rows."""

    bicleaner: Bicleaner | None = None
    """Classifier of [bicleaner-ai](https://github.com/bitextor/bicleaner-ai); `{}` trains a lite one here before it
    scores pairs."""
    language_model: LanguageModel = LanguageModel()
    """Language models of lower-case words and punctuation marks, estimated here with modified Kneser-Ney
    smoothing."""
    lexical_translation: LexicalTranslation | None = None
    """Translation probabilities of words, counted in an alignment by eflomal."""
    reverse_model: ReverseModel | None = None
    """Model that translates target into source, trained on the cleaned parallel corpora; without it the first member
    of `reverse_teacher` scores."""
