"""Cleaning chain written the ordinary way, line by line: sets of strings, a loop of rules, one call per line."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import regex
from sacremoses import MosesPunctNormalizer

from weebill.corpus.cleaning.filters.contents import BROKEN_ENCODING
from weebill.corpus.cleaning.rules import Rules

Pair = tuple[str, str]


class OrdinaryChain:
    """Chain for languages in Latin letters, as a script would do it; also an oracle for ours.

    It keeps lists in memory, while our chain reads and writes Parquet shards, so it has less work.
    """

    def __init__(self, model: Path, languages: tuple[str, str], rules: Rules) -> None:
        import fasttext

        fasttext.FastText.eprint = lambda *args, **kwargs: None
        self._model = fasttext.load_model(str(model))
        self._languages = languages
        self._normalisers = [MosesPunctNormalizer(language) for language in languages]
        self._rules = rules

    def clean(self, pairs: Sequence[Pair]) -> list[tuple[str, str, str | None]]:
        """Return each pair normalised, with the name of the filter that drops it (None = kept)."""
        seen, seen_folded = set(), set()
        result = []
        for pair in pairs:
            key = source, target = tuple(
                normaliser.normalize(
                    regex.sub(r"[\p{C}\u2028\u2029--\p{Cn}]", _blank, text, flags=regex.V1)
                )
                for normaliser, text in zip(self._normalisers, pair, strict=True)
            )
            folded = _fold(source), _fold(target)
            if key in seen:
                name = "duplicate"
            elif folded in seen_folded:
                name = "near_duplicate"
            else:
                name = self._rule(source, target) or self._language(source, target)
            seen.add(key)
            seen_folded.add(folded)
            result.append((source, target, name))
        return result

    def _rule(self, source: str, target: str) -> str | None:
        rules = self._rules
        source_tokens, target_tokens = source.split(), target.split()
        if not source_tokens or not target_tokens:
            return "empty"
        if source.lower() == target.lower():
            return "identical"
        if max(len(source_tokens), len(target_tokens)) > rules.max_tokens:
            return "too_long"
        ratio = len(source_tokens) / len(target_tokens)
        if ratio > rules.max_length_ratio or 1 / ratio > rules.max_length_ratio:
            return "length_ratio"
        for tokens in (source_tokens, target_tokens):
            letters = sum(1 for token in tokens if regex.match(r"\p{Latin}", token))
            if letters / len(tokens) < rules.min_letter_tokens:
                return "letter_tokens"
        for tokens in (source_tokens, target_tokens):
            text = "".join(tokens)
            if len(regex.findall(r"\p{Latin}", text)) / len(text) < rules.min_letter_characters:
                return "letter_characters"
        if max(map(len, source_tokens + target_tokens)) > rules.max_word_characters:
            return "long_word"
        if _numbers(source) != _numbers(target):
            return "numbers"
        if _urls(source) != _urls(target):
            return "urls"
        if BROKEN_ENCODING.search(source) or BROKEN_ENCODING.search(target):
            return "garbled"
        return None

    def _language(self, source: str, target: str) -> str | None:
        names = "language_source", "language_target"
        for text, language, name in zip((source, target), self._languages, names, strict=True):
            labels, _ = self._model.predict(text)
            if not labels or labels[0] != f"__label__{language}":
                return name
        return None


def _blank(match: regex.Match) -> str:
    return "" if regex.match(r"\p{Cf}", match[0]) else " "


def _fold(text: str) -> str:
    pattern = r"(?<=\p{Nd})[\p{P}\p{Z}\p{C}]+(?=\p{Nd})(*SKIP)(*FAIL)|[\p{P}\p{Z}\p{C}]"
    return regex.sub(pattern, "", text.casefold()) or text


def _numbers(text: str) -> list[str]:
    found = regex.findall(r"\d+(?:[.,'\u00a0\u202f]\d+)*", text)
    return sorted(regex.sub(r"\D", "", number) for number in found)


def _urls(text: str) -> Counter[str]:
    found = regex.findall(r"(?i)(?:https?://|www\.)[^\s<>\"]+", text)
    return Counter(url.rstrip(".,;:!?)]}'").rstrip("/").lower() for url in found)
