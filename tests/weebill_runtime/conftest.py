"""Fixtures of the translation family's small vocabularies."""

from tests.translation.conftest import pair, vocabulary

__all__ = ["pair", "vocabulary"]
