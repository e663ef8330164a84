"""Settings of the models that score rows."""

from typing import Annotated

from weebill.configuration.sections.translators import ReverseModel
from weebill.settings import Count, Ge, Le, NonZeroShare, Places, Sha256, Text, section


@section
class BicleanerTraining:
    """Training of the lite classifier, on one thread.

    The classifier learns from pairs of the cleaned corpora and from damaged copies of them: other sources, words left
    out. It learns 90 % of the pairs; the others (2,000 at most) choose the best epoch.
    """

    pairs: Annotated[int, Ge(100)] = 50_000
    """Largest number of pairs, drawn with the experiment's `seed` from all parallel corpora."""
    cleanest: NonZeroShare = 0.5
    """Share of the drawn pairs that is used, the best by the sum of their ranks, if `cleaning.scores` has
    `language_model_…` or `lexical_translation`; then `pairs` / this share are drawn."""
    vocabulary: Annotated[int, Ge(100)] = 8000
    """Pieces of its own SentencePiece model (bicleaner-ai's setting, here and below: 32000)."""
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

    model: Text | None = None
    """Folder of a trained model, or the `https://` address of its archive, such as
    `…/bicleaner-ai-data/releases/latest/download/lite-en-de.tgz` (without a network: put that file into `local_dir`).
    A model of the reverse direction works too. Lite models contain code that runs when they are loaded: use only
    models that you trust."""
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
    source_text: Places | None = None
    """List of text files, plain, `.gz` or `.zst`, on which the source's model is estimated; by default the cleaned
    corpora, and then the model scores lines that it has seen."""
    target_text: Places | None = None
    """List of text files on which the target's model is estimated."""


@section
class LexicalTranslation:
    """Translation probabilities of words, counted in an alignment by eflomal."""

    pairs: Count = 1_000_000
    """Largest number of aligned sentence pairs, drawn with the experiment's `seed`."""
    source_text: Places | None = None
    """List of text files, in the same formats as for the language model, from which words are counted; by default the
    cleaned parallel corpora."""
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
