"""Fixtures shared by the tests of exports."""

import pytest

from tests.runtime.exports import firefox_students
from tests.runtime.exports.students import PIECES, SOURCE_PIECES
from tests.small_models import make_vocabulary
from weebill_runtime.vocabulary import VocabularyPair


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory):
    """Train a small SentencePiece model."""
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm", size=PIECES)


@pytest.fixture(scope="session")
def pair(tmp_path_factory, vocabulary):
    """Train small SentencePiece models of source and target."""
    path = tmp_path_factory.mktemp("source") / "vocab.spm"
    return VocabularyPair(make_vocabulary(path, size=SOURCE_PIECES, seed=2), vocabulary)


@pytest.fixture(scope="session")
def vocabularies(tmp_path_factory):
    """Train a vocabulary of a size that Firefox's engine supports, and a pair with a separate source vocabulary."""
    base = tmp_path_factory.mktemp("vocabularies")
    shared = make_vocabulary(base / "vocab.spm", size=firefox_students.PIECES)
    source = make_vocabulary(base / "source.spm", size=firefox_students.SOURCE_PIECES, seed=2)
    return {"one": shared, "two": VocabularyPair(source, shared)}
