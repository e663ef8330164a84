"""Translation of text by a finished model, an ensemble, or a Hugging Face model, behind one interface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.search import (
    Candidate,
    OnCut,
    Progress,
    SearchOptions,
    find_cuts,
    greedy,
    search,
)
from weebill.translation.search.cuts import log_cut


@dataclass(frozen=True)
class Hypothesis:
    """Translation; score = log p / length^length_normalisation; pieces: its ids without the end."""

    text: str
    score: float
    pieces: tuple[int, ...]


class TextTranslator(ABC):
    """Translator of sentences; an empty or blank one has the empty translation.

    Results are in the order of the input.  progress: called with the number of sentences of each finished batch.

    on_cut: called with each sentence of more than `options.max_source_tokens` pieces, of which only the first
    ones are translated.  It logs a warning; a caller may replace it.
    positions: largest number of pieces that the model can read, whatever the options; None: any number.
    """

    on_cut: OnCut = staticmethod(log_cut)
    positions: int | None = None

    @abstractmethod
    def nbest(
        self, sentences: Sequence[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Return the `options.nbest` best translations found for each sentence, best first, or fewer."""

    def translate(
        self,
        sentences: Sequence[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """Return the best translation of each sentence; a beam of 1 searches greedily."""
        found = self.nbest(sentences, replace(options, nbest=1), progress)
        return [hypotheses[0].text for hypotheses in found]


class PieceTranslator(TextTranslator):
    """Translator that searches over the pieces of a vocabulary; subclasses implement the search."""

    vocabulary: Vocabulary

    @abstractmethod
    def _greedy(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[int]]:
        """Return the pieces of each source's greedy translation without its end."""

    @abstractmethod
    def _search(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Return the n best translations of each source, best first."""

    def translate(
        self,
        sentences: Sequence[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """Implement `TextTranslator`; greedy search keeps no scores and is faster."""
        if options.beam > 1:
            return super().translate(sentences, options, progress)
        sources = self._encode(sentences, options)
        return self.vocabulary.decode(self._greedy(sources, options, progress))

    def nbest(
        self, sentences: Sequence[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        found = self._search(self._encode(sentences, options), options, progress)
        return [_hypotheses(self.vocabulary, candidates) for candidates in found]

    def _encode(self, sentences: Sequence[str], options: SearchOptions) -> list[list[int]]:
        """Return the sentences' pieces, EOS last; report those that the search will crop."""
        sources = self.vocabulary.encode(list(sentences))
        for cut in find_cuts(sources, options):
            self.on_cut(cut)
        return sources


class NetworkTranslator(PieceTranslator):
    """Translator by Weebill's networks with one vocabulary, averaged as an ensemble."""

    def __init__(self, networks: Sequence, vocabulary: Vocabulary) -> None:
        self.networks = list(networks)
        self.vocabulary = vocabulary

    def _greedy(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[int]]:
        return greedy(self.networks, sources, options, progress)

    def _search(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[Candidate]]:
        return search(self.networks, sources, options, progress)


def _hypotheses(vocabulary: Vocabulary, candidates: Sequence[Candidate]) -> list[Hypothesis]:
    """Return a search's candidates as text."""
    texts = vocabulary.decode([list(candidate.tokens) for candidate in candidates])
    return [
        Hypothesis(text, candidate.score, candidate.tokens)
        for candidate, text in zip(candidates, texts, strict=True)
    ]
