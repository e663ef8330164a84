"""Settings of the models that score rows."""

from typing import Annotated

from weebill.configuration.sections.translators import ReverseModel
from weebill.settings import Count, Ge, Le, NonZeroShare, Places, Sha256, Text, section


@section
class BicleanerTraining:
    """Training of the lite classifier, on one thread, on pairs of the cleaned corpora and on damage done to them:
    other sources, words left out. It learns 90 % of the pairs; the rest (2,000 at most) chooses the best epoch."""

    pairs: Annotated[int, Ge(100)] = 50_000
    """Most pairs, drawn with the experiment's `seed` from all parallel corpora."""
    cleanest: NonZeroShare = 0.5
    """Share of the drawn pairs that is taken, the best by the sum of their ranks, if `cleaning.scores` has
    `language_model_…` or `lexical_translation`; more pairs are drawn then, by this share."""
    vocabulary: Annotated[int, Ge(100)] = 8000
    """Pieces of its own SentencePiece model (bicleaner-ai's own setting: 32000)."""
    max_pieces: Annotated[int, Ge(2)] = 64
    """Most pieces of a side; the rest is cut off (100)."""
    embedding: Count = 128
    """Width of the embeddings, which GloVe initialises (300)."""
    hidden: Count = 128
    """Width of the network (200)."""
    epochs: Count = 10
    """Most epochs (200)."""
    patience: Count = 3
    """Epochs without a better F1 before it stops (20)."""
    batch_size: Count = 128
    """Samples of a batch, four for each pair (1024)."""


@section
class Bicleaner:
    """A classifier of bicleaner-ai."""

    model: Text | None = None
    """Folder of a trained model, or the `https://` address of its archive, such as
    `…/bicleaner-ai-data/releases/latest/download/lite-en-de.tgz` (without a network: put that file into `local_dir`).
    A model of the reverse direction serves too. Lite models hold code that loading them runs: use none that you do
    not trust."""
    sha256: Sha256 | None = None
    """Checksum of the archive; an address needs one."""
    hard_rules: bool = False
    """`true` gives 0 to pairs that bicleaner-hardrules rejects, and to those that a model's own filters of fluency
    and pornography reject; language identification is left to `cleaning.language_id`."""
    training: BicleanerTraining = BicleanerTraining()
    """Training of the lite classifier, if no `model` is given."""


@section
class LanguageModel:
    """KenLM language models with modified Kneser-Ney smoothing, estimated here, of words and punctuation marks in
    small letters."""

    order: Annotated[int, Ge(2), Le(6)] = 5
    """Words of the longest n-gram."""
    memory_mb: Annotated[int, Ge(100)] = 1000
    """Memory that sorting may use, in MB; the rest lies on disk."""
    source_text: Places | None = None
    """List of text files, plain, `.gz` or `.zst`, on which the source's model is estimated; without it the cleaned
    corpora, whose lines are then scored by a model that has seen them."""
    target_text: Places | None = None
    """List of text files on which the target's model is estimated."""


@section
class LexicalTranslation:
    """Translations of words, counted in an alignment by eflomal."""

    pairs: Count = 1_000_000
    """Most sentence pairs that are aligned, drawn by the seed."""
    source_text: Places | None = None
    """List of text files as for the language model, whose words are counted; without it those of the cleaned parallel
    corpora."""
    target_text: Places | None = None
    """Translations of these files, line by line."""


@section
class Scoring:
    """The models that score."""

    bicleaner: Bicleaner | None = None
    """Classifier of [bicleaner-ai](https://github.com/bitextor/bicleaner-ai); `{}` trains a lite one here, before the
    first pair is scored."""
    language_model: LanguageModel = LanguageModel()
    """Language models with modified Kneser-Ney smoothing, estimated here, of the words and punctuation marks in small
    letters."""
    lexical_translation: LexicalTranslation | None = None
    """Translations of words, counted in an alignment by eflomal."""
    reverse_model: ReverseModel | None = None
    """Model that translates target into source, trained on the cleaned parallel corpora; without it the first member
    of `reverse_teacher` scores."""
