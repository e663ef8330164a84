"""Cleaning chain written the ordinary way, line by line: sets of strings, a loop of rules, one call per line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import regex
from sacremoses import MosesPunctNormalizer

from weebill.corpus.cleaning.filters.contents import BROKEN_ENCODING
from weebill.corpus.cleaning.rules import Rules

Pair = tuple[str, str]


class OrdinaryChain:
    """Chain for languages in Latin letters, as a script would do it, on lists in memory; also an oracle for ours."""

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
                name = next((one for one, dropped in self._faults(source, target) if dropped), None)
            seen.add(key)
            seen_folded.add(folded)
            result.append((source, target, name))
        return result

    def _faults(self, source: str, target: str) -> Iterator[tuple[str, object]]:
        """Yield each filter's name, and whether it drops the pair."""
        rules, sides = self._rules, (source.split(), target.split())
        yield "empty", not all(sides)
        yield "identical", source.lower() == target.lower()
        yield "too_long", max(map(len, sides)) > rules.max_tokens
        ratio = len(sides[0]) / len(sides[1])
        yield "length_ratio", max(ratio, 1 / ratio) > rules.max_length_ratio
        for tokens in sides:
            letters = sum(1 for token in tokens if regex.match(r"\p{Latin}", token))
            yield "letter_tokens", letters / len(tokens) < rules.min_letter_tokens
        for text in map("".join, sides):
            letters = len(regex.findall(r"\p{Latin}", text))
            yield "letter_characters", letters / len(text) < rules.min_letter_characters
        yield "long_word", max(map(len, sides[0] + sides[1])) > rules.max_word_characters
        yield "numbers", _numbers(source) != _numbers(target)
        yield "urls", _urls(source) != _urls(target)
        yield "garbled", BROKEN_ENCODING.search(source) or BROKEN_ENCODING.search(target)
        names = "language_source", "language_target"
        for text, language, name in zip((source, target), self._languages, names, strict=True):
            labels, _ = self._model.predict(text)
            yield name, not labels or labels[0] != f"__label__{language}"


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
