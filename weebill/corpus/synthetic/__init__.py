"""The embedded corpus: English-German sentence pairs from a seeded grammar of our own.

From stems to rows: tables/*.tsv -> lexicon -> german, english (inflection) -> phrases, phrase_maker (noun phrases)
-> clauses (word order), frames, adverbials, clause_maker (random clauses) -> simple_sentences, complex_sentences
-> sentences -> generation, with noise and french for the damage.

One English sentence has one German translation: "you" is always Sie, the progressive is gerade, the simple past is
the preterite and the perfect the perfect; what English leaves open is not generated.
"""

from weebill.corpus.synthetic.generation import generate
from weebill.corpus.synthetic.noise import NOISE_TYPES

__all__ = ["NOISE_TYPES", "generate"]
