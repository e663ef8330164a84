"""Lines of several sentences, longer than a model reads: split at sentence ends, translated, joined again.

A sentence that is too long by itself is split at the next best places, and cut only if it has none.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Self

from weebill_runtime.boundaries import (
    Division,
    clauses,
    phrases,
    sentences,
    sentences_in_quotes,
    words,
)
from weebill_runtime.errors import InputError
from weebill_runtime.languages import primary
from weebill_runtime.lines import checked_lines
from weebill_runtime.options import Cut, SearchOptions
from weebill_runtime.text_translator import Hypothesis, TextTranslator
from weebill_runtime.unspaced import join_sentences

SENTENCES = (sentences, sentences_in_quotes)  # each part is translated by itself
WITHIN = (clauses, phrases, words)  # short parts are joined again
Part = tuple[str, str]  # a sentence, and the white space after it


class _MorePiecesThanBytes(Exception):
    """A line that seemed short has too many pieces: letters were decomposed, or the translator adds pieces."""


class LineTranslator(TextTranslator):
    """Translator of lines; one longer than `options.max_source_tokens`, or than the model reads, is split.

    The spaces between sentences stay, except that Han and kana have none.  A sentence that is too long by itself is
    split at its clauses, then commas, then words.  A word that is too long is cut, and `on_cut` called with its line.
    The n-th best translation of a split line joins the n-th best ones of its parts; `progress` counts parts.
    `scores` does not split.

    translator: translates the sentences; all its other attributes are also attributes of this object.
    language: of the input, if the translator's vocabulary does not record it.
    """

    def __init__(self, translator: TextTranslator, language: str = "en") -> None:
        vocabulary = getattr(translator, "vocabulary", None)
        normalisation = vocabulary and vocabulary.normalisation
        known = normalisation and normalisation.source.language
        self.translator, self._language = translator, primary(known or language)

    def __getattr__(self, name: str) -> Any:
        if name == "translator":  # a copy has no attributes yet
            raise AttributeError(name)
        return getattr(self.translator, name)

    @property
    def positions(self) -> int | None:
        """Same as the translator's."""
        return self.translator.positions

    @property
    def shareable(self) -> bool:
        """Same as the translator's."""
        return self.translator.shareable

    def sharing(self, on_cut: Callable[[Cut], None]) -> Self:
        """Implement `TextTranslator`."""
        other = super().sharing(on_cut)
        other.translator = self.translator.sharing(on_cut)
        return other

    def piece_counts(self, sentences: list[str]) -> list[int]:
        """Implement `TextTranslator`."""
        return self.translator.piece_counts(sentences)

    def translate(self, sentences, options=SearchOptions(), progress=None) -> list[str]:
        """Implement `TextTranslator`."""
        lines, found = self._found(self.translator.translate, sentences, options, progress)
        return [join_sentences((next(found), space) for _, space in parts) for parts in lines]

    def nbest(self, sentences, options, progress=None) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        lines, found = self._found(self.translator.nbest, sentences, options, progress)
        return [
            _joined_hypotheses([next(found) for _ in parts], [space for _, space in parts], options)
            for parts in lines
        ]

    def _score_pairs(self, sentences, translations, options) -> Sequence[float]:
        self.translator.on_cut = self.on_cut
        return self.translator._score_pairs(sentences, translations, options)

    def _found(
        self, search: Callable[..., list], sentences: Iterable[str], *arguments: Any
    ) -> tuple[list[list[Part]], Iterator]:
        """Return the parts of each line, one for a line that is short enough, and what `search` finds for them."""
        lines, (options, _) = checked_lines("sentences", sentences), arguments
        most = self.translator.longest(options)
        # Few pieces are shorter than a byte, so at first only long lines are encoded twice.
        counted = {number for number, line in enumerate(lines) if len(line.encode()) > most}
        try:
            return self._attempt(search, lines, most, counted, arguments)
        except _MorePiecesThanBytes:
            return self._attempt(search, lines, most, set(range(len(lines))), arguments)

    def _attempt(
        self,
        search: Callable[..., list],
        lines: list[str],
        most: int,
        counted: set[int],
        arguments: tuple,
    ) -> tuple[list[list[Part]], Iterator]:
        """Implement `_found`; raise _MorePiecesThanBytes before the search if a line that was not counted is cut."""
        parts, cuts = self._split(lines, most, counted), []
        owners = [number for number, some in enumerate(parts) for _ in some]

        def on_cut(cut: Cut) -> None:
            line = owners[cut.sentence]
            if line not in counted:
                raise _MorePiecesThanBytes
            cuts.append(replace(cut, sentence=line))

        self.translator.on_cut = on_cut  # called before the search
        found = search([sentence for some in parts for sentence, _ in some], *arguments)
        for cut in cuts:
            self.on_cut(cut)
        return parts, iter(found)

    def _split(self, lines: list[str], most: int, counted: set[int]) -> list[list[Part]]:
        """Return the parts of each line, one for a line that is short enough."""
        numbers = sorted(counted)
        counts = self.translator.piece_counts([lines[number] for number in numbers])
        long = {n for n, count in zip(numbers, counts, strict=True) if count > most}
        if long and find_spec("sentencex") is None:
            raise InputError(
                f"sentences: line {min(long) + 1} has more than {most} pieces, and sentencex is not installed, which "
                "finds the ends of its sentences; split the line, or `pip install sentencex`"
            )
        return [
            list(self._parts(line, most)) if number in long else [(line, "")]
            for number, line in enumerate(lines)
        ]

    def _parts(self, line: str, most: int) -> Iterator[Part]:
        for text in self._fitting(line, most, [*SENTENCES, *WITHIN]):
            sentence = text.rstrip()
            yield sentence, text[len(sentence) :]

    def _fitting(self, text: str, most: int, divisions: list[Division]) -> Iterator[str]:
        """Yield the parts of a text that is too long, by the first division that makes them short enough."""
        divide, *others = divisions
        parts = divide(text, self._language)
        if divide in WITHIN and len(parts) > 1:
            parts = self._joined(parts, most)
        for part, count in zip(parts, self._counts(parts), strict=True):
            yield from self._fitting(part, most, others) if count > most and others else [part]

    def _counts(self, texts: list[str]) -> list[int]:
        return self.translator.piece_counts([text.strip() for text in texts])

    def _joined(self, parts: list[str], most: int) -> list[str]:
        """Join neighbouring parts into few ones of about equal length that are short enough."""
        counts, room = [max(count, 1) for count in self._counts(parts)], most
        while True:
            groups = _groups(counts, room)
            joined = ["".join(parts[group]) for group in groups]
            # Together they may have more pieces than alone: an ideographic space is a piece.
            excess = [
                count - most
                for group, count in zip(groups, self._counts(joined), strict=True)
                if group.stop - group.start > 1
            ]
            if max(excess, default=0) <= 0:
                return joined
            room = max(1, room - max(excess))


def _groups(counts: list[int], room: int) -> list[slice]:
    """Return groups of neighbouring parts; each group of several parts has at most `room` pieces."""
    share = sum(counts) / math.ceil(sum(counts) / room)
    groups, start, total = [], 0, 0
    for number, count in enumerate(counts):
        if total and (total >= share or total + count > room):
            groups.append(slice(start, number))
            start, total = number, 0
        total += count
    return [*groups, slice(start, len(counts))]


def _joined_hypotheses(
    found: list[list[Hypothesis]], spaces: list[str], options: SearchOptions
) -> list[Hypothesis]:
    """Join the n-th best hypotheses of a line's sentences; a sentence with fewer repeats its last."""
    if len(found) == 1:
        return found[0]
    results, power = [], options.length_normalisation
    for rank in range(max(map(len, found))):
        chosen = [one[min(rank, len(one) - 1)] for one in found]
        lengths = [len(one.pieces) + 1 for one in chosen]  # with their ends
        total = sum(one.score * n**power for one, n in zip(chosen, lengths, strict=True))
        text = join_sentences(zip((one.text for one in chosen), spaces, strict=True))
        pieces = tuple(piece for one in chosen for piece in one.pieces)
        results.append(
            replace(chosen[0], text=text, score=total / sum(lengths) ** power, pieces=pieces)
        )
    if options.sampling is None:
        results.sort(key=lambda one: -one.score)
    return results
