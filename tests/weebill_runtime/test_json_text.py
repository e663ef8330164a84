"""JSON that cannot be read raises a short ValueError."""

import pytest

from weebill_runtime.json_text import parse_json


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "{", "", b"\xff"])
def test_faults(text):
    with pytest.raises(ValueError) as caught:
        parse_json(text)
    assert len(str(caught.value)) < 100


def test_values_and_options_are_those_of_json():
    assert parse_json('{"a": [1, null]}') == {"a": [1, None]}
    assert parse_json('{"a": 1, "a": 2}', object_pairs_hook=list) == [("a", 1), ("a", 2)]
