"""Options inside Marian's models: written, read, and refused if they are not plain YAML."""

import numpy as np
import pytest

from weebill.errors import InputError
from weebill.runtime.exports.marian.binary import Codes
from weebill.runtime.exports.marian.options import OPTIONS, read_options, with_options


def test_options_are_read_as_they_were_written():
    options = {"dec-depth": 2, "type": "transformer", "tied-embeddings-all": True}
    assert read_options(with_options({}, options)[OPTIONS], "model.npz") == options


@pytest.mark.parametrize(
    "text",
    [
        b"a: [",
        b"a: 2024-13-45",
        b"[" * 1000,
        b"\xff",
        b"3",
        b"a: !!python/object/apply:os.getcwd []",
    ],
)
def test_what_is_no_plain_yaml_is_refused(text):
    with pytest.raises(
        InputError, match=r"^model\.npz: special:model\.yml (is not YAML|holds no options)"
    ):
        read_options(np.frombuffer(text, np.int8), "model.npz")


def test_integers_with_a_multiplier_are_no_options():
    with pytest.raises(InputError, match=r"special:model\.yml is no text"):
        read_options(Codes(np.zeros((1, 4), np.int8), 1.0), "model.bin")
