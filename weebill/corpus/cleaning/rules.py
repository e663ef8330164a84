"""Settings of the filters that count and compare."""

from dataclasses import dataclass
from typing import Annotated

from weebill.settings import Count, Ge, Share


@dataclass(frozen=True)
class Rules:
    """Thresholds of the rules (WNGT20 §3, WMT21 §2)."""

    max_tokens: Count = 150
    """Most words on a side; in Chinese and Japanese each letter counts as one."""
    max_length_ratio: Annotated[float, Ge(1)] = 2.0
    """Most words of the longer side per word of the shorter. Letters of Chinese or Japanese are about 1.7 and 2.5 to
    a word of English, so 4 suits them."""
    min_letter_tokens: Share = 0.4
    """Smallest share of words that begin with a letter of the language's script."""
    min_letter_characters: Share = 0.5
    """Smallest share of characters, without spaces, that are such letters."""
    max_word_characters: Count = 150
    """Most characters of the longest word."""

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_word_characters < 1:
            raise ValueError("max_tokens and max_word_characters must be at least 1")
        if self.max_length_ratio < 1:
            raise ValueError("max_length_ratio must be at least 1")
        if not (0 <= self.min_letter_tokens <= 1 and 0 <= self.min_letter_characters <= 1):
            raise ValueError("min_letter_tokens and min_letter_characters are shares from 0 to 1")
