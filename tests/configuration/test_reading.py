"""YAML is read strictly."""

import pytest

from weebill.configuration.reading import read_yaml
from weebill.errors import InputError
from weebill.experiment.zoo import load_zoo

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


def test_zoo_errors(tmp_path):
    shape = "embedding: 8, feed_forward: 8, encoder_layers: 1, decoder_tied: true"
    path = tmp_path / "models.yaml"
    path.write_text(
        f"odd: {{{shape}, heads: 3, attention_width: 8, decoder_layers: 1, decoder: ssru}}\n"
        f"wrong: {{{shape}, heads: 0, attention_width: 8, decoder_layers: [1, x], decoder: lstm, dept: 1}}\n"
    )
    with pytest.raises(InputError) as caught:
        load_zoo(path)
    assert str(caught.value).replace(str(path), "zoo").splitlines() == [
        "zoo: wrong.dept: unknown key, expected one of paper, embedding, feed_forward, heads, "
        "attention_width, encoder_layers, decoder_layers, decoder_tied, decoder, vocabulary, note",
        "zoo: wrong.heads: found 0, expected at least 1",
        "zoo: wrong.decoder_layers[1]: found 'x', expected a whole number",
        "zoo: wrong.decoder: found 'lstm', expected one of ssru, attention",
        "zoo: odd: attention_width 8 is no multiple of heads 3",
    ]
