"""Random sentence pairs of every kind, of bounded length."""

from weebill.corpus.synthetic.clause_maker import ClauseMaker
from weebill.corpus.synthetic.clauses import Pair
from weebill.corpus.synthetic.complex_sentences import ComplexSentences
from weebill.corpus.synthetic.dice import Dice
from weebill.corpus.synthetic.lexicon import Lexicon
from weebill.corpus.synthetic.simple_sentences import SimpleSentences

MIN_WORDS, MAX_WORDS = 3, 25


class SentenceMaker:
    """Random sentence pairs over a lexicon, deterministic in the seed."""

    def __init__(self, lexicon: Lexicon, seed: str) -> None:
        self.dice = Dice(seed)
        clauses = ClauseMaker(lexicon, self.dice)
        simple = SimpleSentences(clauses)
        self.kinds = simple.kinds + ComplexSentences(clauses, simple).kinds

    def pair(self) -> Pair:
        """The next pair (English, German), of 3 to 25 words a side, neither side more than twice the other."""
        while True:
            english, german = self.dice.pick(self.kinds)()
            shorter, longer = sorted((english.count(" ") + 1, german.count(" ") + 1))
            if shorter >= MIN_WORDS and longer <= MAX_WORDS and longer <= 2 * shorter:
                return english, german
