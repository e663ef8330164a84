"""Text for timings on a GPU: whole test sets, whose BLEU shows what was timed, then lines of a corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Self

from weebill.bleu import bleu
from weebill.errors import InputError
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.evaluation.timing.speed import count_words


@dataclass(frozen=True)
class TimedText:
    """Sentences that are timed; those of the test sets come first, in their order."""

    sentences: Sequence[str]
    test_sets: Sequence[TestSet] = ()  # those that are in the text as a whole
    name: str = ""  # what it consists of

    @classmethod
    def of(
        cls,
        test_sets: Sequence[TestSet],
        others: Iterable[str] = (),
        sentences: int | None = None,
        corpus: str = "",
    ) -> Self:
        """Return the first lines of the test sets and of other text together; all if `sentences` is None.

        corpus: name of the other text.  Raises InputError if there is no word to translate.
        """
        every = chain(*(one.sources for one in test_sets), others)
        found, whole, end = list(islice(every, sentences)), [], 0
        for one in test_sets:
            end += len(one.sources)
            if end <= len(found):
                whole.append(one)
        parts = [one.name for one in test_sets] + [corpus] * (end < len(found))
        text = cls(found, whole, ", ".join(parts))
        if not text.words:
            raise InputError("GPU speed: no words to translate; give a test set with text")
        return text

    @cached_property
    def words(self) -> int:
        """Number of source words, as `count_words` counts them."""
        return count_words(self.sentences)

    @property
    def scored(self) -> int:
        """Number of sentences of the whole test sets, which are the first ones."""
        return sum(len(one.sources) for one in self.test_sets)

    def first(self, sentences: int) -> "TimedText":
        """Return the first sentences, without test sets to score."""
        return TimedText(self.sentences[:sentences], name=self.name)

    def scores(self, translations: Sequence[str], target: str) -> dict[str, float]:
        """Return BLEU, 0 to 100, of the translations of each whole test set by its name.

        translations: of all sentences, or of the first `scored` ones.  target: language or tokenizer, as in `bleu`.
        """
        metric, start, found = bleu(target), 0, {}
        for one in self.test_sets:
            end = start + len(one.sources)
            found[one.name] = metric.corpus_score(
                translations[start:end], [list(one.references)]
            ).score
            start = end
        return found

    def signature(self, target: str) -> str:
        """Return the signature of these scores; "" if no test set is scored."""
        if not self.test_sets:
            return ""
        metric, one = bleu(target), self.test_sets[0]
        metric.corpus_score([one.references[0]], [[one.references[0]]])  # counts the references
        return str(metric.get_signature())
