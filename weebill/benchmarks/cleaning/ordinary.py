"""Cleaning chain written in the ordinary way, line by line: sets of strings, a loop over rules, one call per line."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import regex
from sacremoses import MosesPunctNormalizer

from weebill.corpus.cleaning.filters.contents import BROKEN_ENCODING
from weebill.corpus.cleaning.filters.counts import BINS, SHORT, expected_length_ratio
from weebill.corpus.cleaning.filters.markup import TAG
from weebill.corpus.cleaning.filters.numbers import numbers_differ
from weebill.corpus.cleaning.language_id import LanguageId
from weebill.corpus.cleaning.preparation import decode_entities
from weebill.corpus.cleaning.repetition import LONG_WORD, LONGEST_PHRASE
from weebill.corpus.cleaning.rules import Rules

MIN_LETTERS = LanguageId.min_letters
Pair = tuple[str, str]


class OrdinaryChain:
    """Chain for languages in Latin letters, as in a simple script, on lists in memory; also an oracle for ours."""

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
        normalised = [self._normalise(pair) for pair in pairs]
        lengths = [[len("".join(text.split())) for text in pair] for pair in normalised]
        ratios = [math.log(target / source) for source, target in lengths if source and target]
        counts = np.histogram(np.clip(ratios, BINS[0], BINS[-1]), BINS)[0]
        self._expected = expected_length_ratio(counts)
        for key in normalised:
            source, target = key
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

    def _normalise(self, pair: Pair) -> Pair:
        pair = decode_entities([*pair])
        return tuple(
            normaliser.normalize(
                regex.sub(r"[\p{C}\u2028\u2029--\p{Cn}]", _blank, text, flags=regex.V1)
            )
            for normaliser, text in zip(self._normalisers, pair, strict=True)
        )

    def _faults(self, source: str, target: str) -> Iterator[tuple[str, object]]:
        """Yield each filter's name, and whether it drops the pair."""
        rules, sides = self._rules, (source.split(), target.split())
        yield "empty", not all(sides)
        yield "identical", source.lower() == target.lower()
        yield "too_long", max(map(len, sides)) > rules.max_tokens
        one, other = (len("".join(side)) for side in sides)
        one, other = one + SHORT, other / self._expected + SHORT
        yield "length_ratio", max(one, other) / min(one, other) > rules.max_length_ratio
        for tokens in sides:
            letters = sum(1 for token in tokens if regex.match(r"\p{Latin}", token))
            yield "letter_tokens", letters / len(tokens) < rules.min_letter_tokens
        for text in map("".join, sides):
            letters = len(regex.findall(r"\p{Latin}", text))
            yield "letter_characters", letters / len(text) < rules.min_letter_characters
        yield "long_word", max(map(len, sides[0] + sides[1])) > rules.max_word_characters
        stutters = [_stutters(side, rules.max_repeats) for side in sides]
        yield "repetition", stutters[0] != stutters[1]
        yield "markup", bool(TAG.search(source)) != bool(TAG.search(target))
        yield "numbers", numbers_differ(source, target, rules)
        yield "urls", _urls(source) != _urls(target)
        yield "garbled", BROKEN_ENCODING.search(source) or BROKEN_ENCODING.search(target)
        names = "language_source", "language_target"
        for text, language, name in zip((source, target), self._languages, names, strict=True):
            if len(regex.findall(r"\p{Latin}", text)) >= MIN_LETTERS:
                yield name, not any(map(partial(self._is, language), _cases(text)))

    def _is(self, language: str, text: str) -> bool:
        labels, _ = self._model.predict(text)
        return bool(labels) and labels[0] == f"__label__{language}"


def _blank(match: regex.Match) -> str:
    return "" if regex.match(r"\p{Cf}", match[0]) else " "


def _fold(text: str) -> str:
    pattern = r"(?<=\p{Nd})[\p{P}\p{Z}\p{C}]+(?=\p{Nd})(*SKIP)(*FAIL)|[\p{P}\p{Z}\p{C}]"
    return regex.sub(pattern, "", text.casefold()) or text


def _cases(text: str) -> list[str]:
    """Return the forms of a line whose language is identified: lines of capitals also in small letters."""
    if text.isupper():
        return [text.capitalize()]
    capitals = 2 * sum(map(str.isupper, text)) > sum(map(str.isalpha, text))
    return [text, text.capitalize()] if capitals else [text]


def _stutters(tokens: list[str], most: int) -> bool:
    tokens = [regex.sub(r"[^\p{Latin}\p{Nd}]", "", token) for token in tokens]
    for size in range(1, min(LONGEST_PHRASE, (len(tokens) - len(set(tokens))) // most) + 1):
        run = 0
        for one, other in zip(tokens, tokens[size:], strict=False):
            run = run + 1 if one == other and regex.match(r"\p{Latin}", one) else 0
            if run >= most * size:
                return True
    return any(
        regex.search(rf"(\p{{L}}{{2,12}}?)\1{{{most},}}", one)
        for one in tokens
        if len(one) >= LONG_WORD
    )


def _urls(text: str) -> Counter[str]:
    found = regex.findall(r"(?i)(?:https?://|www\.)[[!-~]--[<>\"]||[À-ɏ]]+", text, flags=regex.V1)
    return Counter(url.rstrip(".,;:!?)]}'").rstrip("/").lower() for url in found)
