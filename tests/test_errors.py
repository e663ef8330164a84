"""One line of an error tells what is wrong."""

import pytest

from weebill.errors import first_line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nNo such file.\nMore.", "No such file."),
        ("Error for field 'x':\n    TypeError: 'x' expected int", "Error for field 'x': TypeError: 'x' expected int"),
        ("Set `weights_only=False`.\nBad pickle.", "Bad pickle."),
        ("", "ValueError"),
    ],
)  # fmt: skip
def test_the_first_line_of_a_librarys_error(text, told):
    assert first_line(ValueError(text)) == told
