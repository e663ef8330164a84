"""YAML is read strictly."""

import pytest

from weebill.errors import InputError
from weebill.yaml_files import read_yaml

BAD = {
    "repeated key": (
        "a: 1\nb:\n  c: 2\n  c: 3\n",
        "{path}:4: not valid YAML: 'c' stands here a second time",
    ),
    "tab": ("a:\n\tb: 1\n", "{path}:2: not valid YAML: found character '\\t'"),
    "unclosed": ("a: {b: 1\n", "{path}:2: not valid YAML: "),
    "list": ("- a\n", "{path}: found list, expected keys with values"),
    "empty": ("", "{path}: found NoneType, expected keys with values"),
    "code": ("a: !!python/object/apply:os.getcwd []\n", "{path}:1: not valid YAML: "),
    "no key": ("? [a]\n: 1\n", "{path}:1: not valid YAML: ['a'] is no possible key"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_bad_yaml(tmp_path, text, message):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(message.format(path=path))
    assert "\n" not in str(caught.value)


def test_bad_bytes(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: \xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_yaml(path)


def test_missing(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: no such file"):
        read_yaml(tmp_path / "none.yaml")
