"""The embedded corpus: English-German sentence pairs from a seeded grammar of our own."""

from goldcrest.corpus.synthetic.generation import check_languages, generate
from goldcrest.corpus.synthetic.noise import NOISE_TYPES

__all__ = ["NOISE_TYPES", "check_languages", "generate"]
