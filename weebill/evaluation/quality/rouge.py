"""ROUGE of summaries by the package rouge-score, stemmed, with bootstrap intervals.

ROUGE-Lsum compares sentences.  A rule finds their borders here, since the usual tokeniser's model would have to be
downloaded: a sentence ends at a line break, or at . ! ? (and a closing quote) before a capital, a digit or an
opening quote.  Sentences that were joined without a space, as in the BBC's summaries ("2%.The"), are split too.

The package knows only the letters a to z and the digits 0 to 9; digits of other scripts are converted to these.  A
word without any of them, as in other scripts, is one token here, without a stem; in a script without spaces, each
letter is one.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from weebill.corpus.cleaning.writing_systems import words
from weebill.errors import InputError
from weebill.evaluation.quality.significance import BOOTSTRAP_SEED, interval, resampled_means
from weebill_runtime.lines import checked_lines

METRICS = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "ROUGE-Lsum": "rougeLsum"}
_SEEN = re.compile("[a-z0-9]")
_OPENING = r"[A-Z0-9£$€\"'“‘(]"
_BORDER = re.compile(
    rf"(?<=[.!?])\s+(?={_OPENING})"
    rf"|(?<=[.!?][\"'”’)])\s+(?={_OPENING})"
    r"|(?<=[a-z0-9%)][.!?])(?=[A-Z“])"
    r"|(?<=[.!?][\"”])(?=[A-Z“])"
    r"|(?<=[.!?…])\s+(?=[Α-ΡΣ-ΫЀ-Я])"
    r"|(?<=[。！？｡।۔؟።])\s*(?=.)"
    r"|\n+"
)


class _Words(DefaultTokenizer):
    """Tokens of the package, and words that it does not know."""

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        if text.isascii():
            return super().tokenize(text)
        text = text.translate(_digits())
        return [token for word in words(text) for token in self._of_word(word)]

    def _of_word(self, word: str) -> list[str]:
        return [word.lower()] if is_foreign(word) else super().tokenize(word)


def is_foreign(word: str) -> bool:
    """Return True for a word with letters or numerals, none of which the package knows.

    Numerals that stand for letters or digits of the package, such as ½, are not foreign; the package leaves them out.
    """
    if not any(map(str.isalnum, word)) or _SEEN.search(word.lower()):
        return False
    letters = any(map(str.isalpha, word))
    return letters or not _SEEN.search(unicodedata.normalize("NFKC", word).lower())


@cache
def _digits() -> dict[int, str]:
    """Return the digit 0 to 9 for each other decimal digit."""
    values = {code: unicodedata.decimal(chr(code), None) for code in range(128, sys.maxunicode + 1)}
    return {code: str(value) for code, value in values.items() if value is not None}


def sentences(text: str) -> str:
    """Return the text with one line for each sentence, as ROUGE-Lsum expects it."""
    return "\n".join(part.strip() for part in _BORDER.split(text) if part.strip())


def rouge_scores(summaries: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return F-measures (summaries, 4) in the order of METRICS, 0 to 1.

    Raises InputError if the counts differ, or if one side is one string.
    """
    summaries, references = (
        checked_lines(name, texts)
        for name, texts in (("summaries", summaries), ("references", references))
    )
    if len(summaries) != len(references):
        message = f"ROUGE: {len(summaries):,} summaries for {len(references):,} references; make them again"
        raise InputError(message)
    scorer = RougeScorer(list(METRICS.values()), tokenizer=_Words(use_stemmer=True))
    rows = [scorer.score(*map(sentences, pair)) for pair in zip(references, summaries, strict=True)]
    return np.array([[row[name].fmeasure for name in METRICS.values()] for row in rows])


def rouge_intervals(scores: np.ndarray, resamples: int) -> list[tuple[float, float, float]]:
    """Return (mean, low, high) of each metric; the 95 % interval comes from resampling the summaries."""
    samples = resampled_means(scores, resamples)  # (resamples, 4)
    means = scores.mean(0)
    return [(float(means[i]), *interval(samples[:, i])) for i in range(scores.shape[1])]


def rouge_signature(search: str, resamples: int, texts: Iterable[str] = ()) -> str:
    """Return the settings that the numbers depend on.

    search: settings that made the summaries.  texts: all texts; they show if words of other scripts are tokens.
    """
    others = (text for text in texts if not text.isascii())
    foreign = any(
        text != text.translate(_digits()) or any(map(is_foreign, words(text))) for text in others
    )
    tokens = "|other-scripts:words" if foreign else ""
    return (
        f"rouge-score:{version('rouge-score')}|f-measure|stemmed{tokens}|sentences:by-rule|{search}|"
        f"resamples:{resamples}|seed:{BOOTSTRAP_SEED}"
    )
