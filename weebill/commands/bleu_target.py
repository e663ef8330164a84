"""The option `--target` of commands that compute BLEU: the language whose tokens it counts."""

from collections.abc import Iterable
from itertools import islice

from sacrebleu.metrics import BLEU

from weebill.corpus.language_codes import check_language
from weebill.errors import InputError, placed
from weebill_runtime.unspaced import is_unspaced

SAMPLE = 1000  # texts that are looked at if no target language is given


def check_target(target: str) -> None:
    """Raise InputError unless `target` is a language, or one of sacreBLEU's tokenizers."""
    if target not in BLEU.TOKENIZERS:
        with placed("--target"):
            check_language(target)


def require_target(target: str | None, texts: Iterable[str]) -> None:
    """Raise InputError if no target is given, and most letters of the first texts are of scripts without spaces."""
    if target:
        return
    letters = [letter for text in islice(texts, SAMPLE) for letter in text if letter.isalpha()]
    if 2 * sum(map(is_unspaced, letters)) > len(letters):
        raise InputError(
            "BLEU would count whole sentences as words, because this text has no spaces between words; "
            "add `--target` with its language or a tokenizer of sacreBLEU: ja, zh, th, char"
        )
