"""Interface of all translators of text, and the common base of those that use the pieces of a vocabulary."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from weebill_runtime.edge_symbols import Edged, without_edges
from weebill_runtime.errors import InputError
from weebill_runtime.lines import checked_lines
from weebill_runtime.names import Side
from weebill_runtime.options import Candidate, Cut, SearchOptions, cut_logger, find_cuts
from weebill_runtime.vocabulary import AnyVocabulary

Progress = Callable[[int], None]  # takes the number of sentences of each finished batch


@dataclass(frozen=True)
class Hypothesis:
    """Translation; score = log p / length^length_normalisation; pieces: its ids without the end and edge symbols."""

    text: str
    score: float
    pieces: tuple[int, ...]


class TextTranslator(ABC):
    """Translator of sentences; an empty or blank one has the empty translation.

    Sentences are strings in a list, or in any iterable but a single string; all methods raise InputError for others.
    Results are in the order of the input.  progress: called with the number of sentences of each finished batch.
    on_cut: called with each sentence that is cut to `options.max_source_tokens` pieces; it logs a warning.
    positions: largest number of pieces that the model can read, whatever the options; None: any number.
    shareable: True if several threads may translate, each by a translator of `sharing`; they search by turns.
    """

    on_cut: Callable[[Cut], None] = staticmethod(cut_logger("sentence "))
    positions: int | None = None
    shareable = False

    def sharing(self, on_cut: Callable[[Cut], None]) -> Self:
        """Return a translator with this one's model, which another thread may use, and its own `on_cut`."""
        other = copy(self)
        other.on_cut = on_cut
        return other

    def longest(self, options: SearchOptions) -> int:
        """Return the largest number of pieces of a sentence that is not cut."""
        return options.max_source_tokens

    @abstractmethod
    def piece_counts(self, sentences: list[str]) -> list[int]:
        """Return the number of pieces of each sentence, as `longest` counts them."""

    @abstractmethod
    def nbest(
        self, sentences: Iterable[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Return the `options.nbest` best translations found for each sentence, best first, or fewer."""

    def scores(
        self,
        sentences: Iterable[str],
        translations: Iterable[str],
        options: SearchOptions = SearchOptions(),
    ) -> np.ndarray:
        """Return (sentences,) float64: log p of each sentence's given translation / length^length_normalisation.

        The length counts pieces and the end, so by default this is the mean log probability (natural logarithm) of a
        piece, and a translation that `nbest` finds without a shortlist has the score it has there, if its text is
        divided into the same pieces.  An empty sentence has only the empty translation, whose
        score is 0; the score of any other is −inf.
        Sentences are cut as by `translate`, and a Hugging Face model's translations likewise.
        Raises InputError if the numbers of lines differ.
        """
        given = checked_lines("sentences", sentences)
        outputs = checked_lines("translations", translations)
        if len(given) != len(outputs):
            raise InputError(
                f"{len(given):,} sentences but {len(outputs):,} translations; give one translation for each"
            )
        found = self._score_pairs(given, outputs, options) if given else []
        return np.array(found, dtype=np.float64)

    @abstractmethod
    def _score_pairs(
        self, sentences: list[str], translations: list[str], options: SearchOptions
    ) -> Sequence[float]: ...

    def translate(
        self,
        sentences: Iterable[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """Return the best translation of each sentence; a beam of 1 searches greedily."""
        found = self.nbest(sentences, replace(options, nbest=1), progress)
        return [hypotheses[0].text for hypotheses in found]


class PieceTranslator(TextTranslator):
    """Translator over the pieces of a vocabulary by the functions `_greedy`, `_search` and `_force_decode`.

    encoding_threads: number of threads that divide sentences into pieces; more than one only if a GPU searches.
    """

    vocabulary: AnyVocabulary
    encoding_threads = 1
    shareable = True
    _greedy: Callable[[list[list[int]], SearchOptions, Progress | None], list[list[int]]]
    _search: Callable[[list[list[int]], SearchOptions, Progress | None], list[list[Candidate]]]
    _force_decode: Callable[[list[list[int]], list[list[int]], SearchOptions], list[float]]

    def translate(self, sentences, options=SearchOptions(), progress=None) -> list[str]:
        """Implement `TextTranslator`; greedy search keeps no scores and is faster."""
        if options.beam > 1 or options.sampling is not None:
            return super().translate(sentences, options, progress)
        given = self._edged(sentences)
        found = self._greedy(self._encode(given, options), options, progress)
        texts = self.vocabulary.target.decode(found)
        return [edged.around(text) for edged, text in zip(given, texts, strict=True)]

    def nbest(self, sentences, options, progress=None) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        given, results, decode = self._edged(sentences), [], self.vocabulary.target.decode
        every = self._search(self._encode(given, options), options, progress)
        for edged, found in zip(given, every, strict=True):
            pairs = zip(decode([one.tokens for one in found]), found, strict=True)
            results.append(
                [Hypothesis(edged.around(text), one.score, one.tokens) for text, one in pairs]
            )
        return results

    def piece_counts(self, sentences: list[str]) -> list[int]:
        """Implement `TextTranslator`."""
        inner = [one.sentence for one in self._edged(sentences)]
        return [len(source) - 1 for source in self.vocabulary.encode_input(inner)]

    def _score_pairs(self, sentences, translations, options) -> list[float]:
        sources = self._encode(self._edged(sentences), options)
        targets = [one.sentence for one in self._edged(translations, "target")]
        return self._force_decode(sources, self.vocabulary.encode_input(targets, "target"), options)

    def _edged(self, sentences: Iterable[str], side: Side = "source") -> list[Edged]:
        return without_edges(checked_lines("sentences", sentences), getattr(self.vocabulary, side))

    def _encode(self, given: list[Edged], options: SearchOptions) -> list[list[int]]:
        """Return the sentences' pieces, EOS last; report those that the search will crop."""
        inner = [one.sentence for one in given]
        sources = self.vocabulary.encode_input(inner, threads=self.encoding_threads)
        for cut in find_cuts(sources, options):
            self.on_cut(cut)
        return sources
