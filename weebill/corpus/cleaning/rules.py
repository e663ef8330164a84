"""Settings of the filters that count and compare."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """Thresholds of the rules (WNGT20 §3, WMT21 §2)."""

    max_tokens: int = 150  # white-space tokens a side
    max_length_ratio: float = 2.0  # tokens of the longer side over those of the shorter
    min_letter_tokens: float = 0.4  # share of tokens that begin with a letter of the script
    min_letter_characters: float = 0.5  # share of non-space characters that are such letters
    max_word_characters: int = 150

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_word_characters < 1:
            raise ValueError("max_tokens and max_word_characters must be at least 1")
        if self.max_length_ratio < 1:
            raise ValueError("max_length_ratio must be at least 1")
        if not (0 <= self.min_letter_tokens <= 1 and 0 <= self.min_letter_characters <= 1):
            raise ValueError("min_letter_tokens and min_letter_characters are shares from 0 to 1")
