"""Shared fixtures of the tests of exports."""

import pytest

from tests.runtime.exports.students import PIECES
from tests.small_models import make_vocabulary


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory):
    """Train a small SentencePiece model."""
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm", size=PIECES)
