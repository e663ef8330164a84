"""Fit of vocabularies to a language: text after a round trip, and lines with characters that have no piece."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weebill.bleu import bleu
from weebill.translation.model.vocabulary import OWN, train_vocabulary
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.vocabulary import UNK, Vocabulary


@dataclass(frozen=True)
class Fit:
    """Measures of a vocabulary on text that it was not trained on; shares are of the lines."""

    round_trip_bleu: float  # BLEU of decode(encode(cleaned text)) against the cleaned text
    rare_as_written: float  # with an unknown or byte piece, if the text is not cleaned
    rare_cleaned: float  # the same for the cleaned text


def measure_fit(
    lines: Sequence[str], language: str, size: int, seed: int = 1, tokenizer: str = ""
) -> Fit:
    """Train a vocabulary with default settings on half of the lines, and measure it on the other half.

    lines: uncleaned text of one language.  tokenizer: BLEU's tokenizer, if not that of the language.
    Raises InputError if the size does not suit the text.
    """
    normalisation = Normalisation.of((language, language))
    learnt, raw = list(lines[::2]), list(lines[1::2])
    options = {"normalizer": OWN, "byte_fallback": True, "normalisation": normalisation}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocab.spm"
        train_vocabulary(normalisation(learnt, "source"), path, size, seed, **options)
        vocabulary = Vocabulary(path)
    cleaned = normalisation(raw, "source")
    back = vocabulary.decode(vocabulary.encode(cleaned))
    return Fit(
        round_trip_bleu=bleu(tokenizer or language).corpus_score(back, [cleaned]).score,
        rare_as_written=rare_share(vocabulary, raw),
        rare_cleaned=rare_share(vocabulary, cleaned),
    )


def rare_share(vocabulary: Vocabulary, lines: Sequence[str]) -> float:
    """Return the share of lines with an unknown or byte piece."""
    rare = {UNK, *vocabulary.byte_pieces}
    return sum(not rare.isdisjoint(ids) for ids in vocabulary.encode(list(lines))) / len(lines)
