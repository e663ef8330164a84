"""sacreBLEU's BLEU with the tokens of its target language."""

import re
from typing import Any

from sacrebleu.metrics import BLEU


def bleu(target: str = "", **options: Any) -> BLEU:
    """sacreBLEU's BLEU with the tokens of a target language, such as zh or zh_CN; "" is of words, as most are.

    Where sacreBLEU's tokenizer of Japanese or Korean is not installed, tokens are characters; its signature tells.
    """
    language = re.split("[-_]", target)[0].lower()
    try:
        return BLEU(trg_lang=language, **options)
    except RuntimeError:  # no MeCab
        return BLEU(tokenize="char", **options)
