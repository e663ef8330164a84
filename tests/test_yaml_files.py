"""YAML is read strictly."""

import pytest

from weebill.errors import InputError
from weebill.yaml_files import LARGEST, check_yaml, read_yaml

BAD = {
    "repeated key": (
        "a: 1\nb:\n  c: 2\n  c: 3\n",
        "{path}:4: not valid YAML: 'c' stands here a second time",
    ),
    "tab": (
        "a:\n\tb: 1\n",
        "{path}:2: not valid YAML: found character '\\t' that cannot start any token; write ",
    ),
    "unclosed": ("a: {b: 1\n", "{path}:2: not valid YAML: "),
    "list": ("- a\n", "{path}: found a list, expected keys with values"),
    "empty": ("", "{path}: found nothing, expected keys with values"),
    "alias": (
        "a: 1\nb: *c\n",
        "{path}:2: not valid YAML: found undefined alias 'c'; mend this line",
    ),
    "control": ("a: 1\nb: \x07\n", "{path}:2: not valid YAML: the character 0x07 is not allowed"),
    "code": ("a: !!python/object/apply:os.getcwd []\n", "{path}:1: not valid YAML: "),
    "no date": ("a: 1\nb: 2020-13-45\n", "{path}:2: not valid YAML: '2020-13-45' is no date or"),
    "digits": (f"a: {'7' * 6000}\n", "{path}:1: not valid YAML: '77777777777777777777… (6,000 "),
    "depth": ("a: " + "{b: " * 2000, "{path}: not valid YAML: nested too deeply; mend it"),
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
    path.write_bytes("a: é\r\n".encode() + "b: é\r\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"x\.yaml:2: not UTF-8 \(byte 0xe9\); save"):
        read_yaml(path)


def test_other_systems_files(tmp_path):
    """Windows writes CR LF, and its editors a byte order mark."""
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: {c: x}\r\n")
    assert read_yaml(tmp_path / "x.yaml") == {"a": 1, "b": {"c": "x"}}


def test_missing(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: no such file"):
        read_yaml(tmp_path / "none.yaml")


def test_large_files_and_pipes(tmp_path):
    (tmp_path / "x.yaml").write_text("a: 1\n#" + "x" * (LARGEST - 7) + "\n")
    assert (tmp_path / "x.yaml").stat().st_size == LARGEST
    assert read_yaml(tmp_path / "x.yaml") == {"a": 1}
    with (tmp_path / "x.yaml").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match="more than 4,194,304 bytes"):
        read_yaml(tmp_path / "x.yaml")
    with pytest.raises(InputError, match="/dev/null: not a plain file"):
        check_yaml("/dev/null")
