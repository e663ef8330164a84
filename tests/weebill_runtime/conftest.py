"""Small vocabularies, from the fixtures of translation."""

from tests.translation.conftest import pair, vocabulary

__all__ = ["pair", "vocabulary"]
