"""What the tests of the exports share."""

import pytest

from tests.runtime.exports.students import PIECES
from tests.small_models import make_vocabulary


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory):
    """A small SentencePiece model."""
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm", size=PIECES)
