"""Lines of several sentences, longer than a model reads: split at sentence ends, translated, joined again.

sentencex (Wikimedia) finds the ends: it needs no download, knows the abbreviations of many languages, and keeps every
character.  Thai, Lao, Khmer and Tibetan mark sentences by spaces alone; a part that is still too long is split there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from weebill_runtime.errors import InputError
from weebill_runtime.languages import primary
from weebill_runtime.lines import checked_lines
from weebill_runtime.options import Cut, SearchOptions
from weebill_runtime.text_translator import Hypothesis, TextTranslator
from weebill_runtime.unspaced import is_unspaced, join_sentences

CLAUSE_ENDS = "។៕།༎"  # Khmer and Tibetan marks before a space
Part = tuple[str, str]  # a sentence, and the white space after it


class LineTranslator(TextTranslator):
    """Translator of lines; one longer than `options.max_source_tokens`, or than the model reads, is split.

    The spaces between sentences stay, except that Han and kana have none.  A sentence that is too long by itself is
    cut, and `on_cut` called with its line.  The n-th best translation of a split line joins the n-th best ones of its
    sentences; `progress` counts sentences.  `scores` does not split.

    translator: translates the sentences; all its other attributes are also attributes of this object.
    language: of the input, if the translator's vocabulary does not record it.
    """

    def __init__(self, translator: TextTranslator, language: str = "en") -> None:
        vocabulary = getattr(translator, "vocabulary", None)
        normalisation = vocabulary and vocabulary.normalisation
        known = normalisation and normalisation.source.language
        self.translator, self._language = translator, primary(known or language)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["translator"], name)

    @property
    def positions(self) -> int | None:
        """Same as the translator's."""
        return self.translator.positions

    def piece_counts(self, sentences: list[str]) -> list[int]:
        """Implement `TextTranslator`."""
        return self.translator.piece_counts(sentences)

    def translate(self, sentences, options=SearchOptions(), progress=None) -> list[str]:
        """Implement `TextTranslator`."""
        lines = self._split(sentences, options)
        found = iter(self.translator.translate(self._flat(lines), options, progress))
        return [join_sentences((next(found), space) for _, space in parts) for parts in lines]

    def nbest(self, sentences, options, progress=None) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        lines = self._split(sentences, options)
        found = iter(self.translator.nbest(self._flat(lines), options, progress))
        return [
            _joined_hypotheses([next(found) for _ in parts], [space for _, space in parts], options)
            for parts in lines
        ]

    def _score_pairs(self, sentences, translations, options) -> Sequence[float]:
        self.translator.on_cut = self.on_cut
        return self.translator._score_pairs(sentences, translations, options)

    def _flat(self, lines: list[list[Part]]) -> list[str]:
        """Return all sentences; those that are cut are reported by their line."""
        owners = [number for number, parts in enumerate(lines) for _ in parts]
        self.translator.on_cut = lambda cut: self.on_cut(
            Cut(owners[cut.sentence], cut.pieces, cut.kept)
        )
        return [sentence for parts in lines for sentence, _ in parts]

    def _split(self, sentences: Iterable[str], options: SearchOptions) -> list[list[Part]]:
        """Return the parts of each line, one for a line that is short enough."""
        lines = checked_lines("sentences", sentences)
        most = self.translator.longest(options)
        # Few pieces have less than a byte, so only long lines are encoded twice.
        doubtful = [number for number, line in enumerate(lines) if len(line.encode()) > most]
        counts = self.translator.piece_counts([lines[number] for number in doubtful])
        long = {n for n, count in zip(doubtful, counts, strict=True) if count > most}
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
        import sentencex

        parts = [_part(one) for one in sentencex.segment(self._language, line) if one.strip()]
        counts = self.translator.piece_counts([sentence for sentence, _ in parts])
        for part, count in zip(parts, counts, strict=True):
            yield from [part] if count <= most else self._clauses(part, most)

    def _clauses(self, part: Part, most: int) -> Iterator[Part]:
        """Yield the parts of a sentence at spaces after letters of scripts without spaces, as few as possible."""
        clauses = [_part(one) for one in _at_spaces(part[0])]
        counts = self.translator.piece_counts([clause for clause, _ in clauses])
        whole, space, total = "", "", 0
        for (clause, after), count in zip(clauses, counts, strict=True):
            if whole and total + count > most:
                yield whole, space
                whole, space, total = "", "", 0
            whole, space, total = f"{whole}{space}{clause}", after, total + count
        yield whole, part[1]


def _part(text: str) -> Part:
    sentence = text.rstrip()
    return sentence, text[len(sentence) :]


def _at_spaces(sentence: str) -> Iterator[str]:
    start = 0
    for found in re.finditer(r"(\S)\s+", sentence):
        if is_unspaced(found[1]) or found[1] in CLAUSE_ENDS:
            yield sentence[start : found.end()]
            start = found.end()
    yield sentence[start:]


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
