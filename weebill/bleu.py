"""BLEU by sacreBLEU, with the tokenizer of the target language."""

import re
from typing import Any

from sacrebleu.metrics import BLEU


def bleu(target: str = "", **options: Any) -> BLEU:
    """Return sacreBLEU's BLEU with the tokenizer of a target language, such as zh or zh_CN; "" means words.

    If sacreBLEU's tokenizer of Japanese or Korean is not installed, tokens are characters; the signature shows it.
    """
    language = re.split("[-_]", target)[0].lower()
    try:
        return BLEU(trg_lang=language, **options)
    except RuntimeError:  # no MeCab
        return BLEU(tokenize="char", **options)
