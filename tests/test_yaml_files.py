"""YAML files are read strictly."""

import pytest
import yaml

from weebill import yaml_files
from weebill.errors import InputError
from weebill.yaml_files import check_yaml, load_yaml, read_yaml

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
    "octal": (
        "a: 1\nb: 010\n",
        "{path}:2: not valid YAML: '010' would be the number 8, write that, or",
    ),
    "base 60": (
        "a: 12:30\n",
        "{path}:1: not valid YAML: '12:30' would be the number 750, write that, or",
    ),
    "digits": (f"a: {'7' * 6000}\n", "{path}:1: not valid YAML: '77777777777777777777… (6,000 "),
    "depth": ("a: " + "{b: " * 2000, "{path}: not valid YAML: nested too deeply; mend it"),
    "laughs": (
        "a0: &a0 lol\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)),
        "{path}:6: not valid YAML: aliases stand for too much text in all; mend this line",
    ),
    "merged keys": (  # would take the library itself hours
        "a0: &a0 {x: 1}\n"
        + "".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 8)}]}}\n" for i in range(1, 40)),
        "{path}:6: not valid YAML: aliases stand for too much text in all; mend this line",
    ),
    "doubled": (
        "b0: &b0 {x: 1}\n"
        + "".join(f"b{i}: &b{i} {{x: *b{i - 1}, y: *b{i - 1}}}\n" for i in range(1, 60)),
        "{path}:14: not valid YAML: aliases stand for too much text in all; mend this line",
    ),
    "long text": (
        f"a: &a {'x' * 9000}\nb: [*a, *a]\nc: [{', '.join(['*a'] * 400)}]\n",
        "{path}:3: not valid YAML: aliases stand for too much text in all; mend this line",
    ),
    "endless list": ("a: &a [1, *a]\n", "{path}:1: not valid YAML: an alias to what it is part of"),
    "endless map": ("a: 1\nb: &a {c: *a}\n", "{path}:2: not valid YAML: an alias to what it is"),
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


@pytest.mark.parametrize("name", ["laughs", "merged keys", "doubled", "endless list"])
def test_aliases_in_files_of_other_programs(name):
    with pytest.raises(yaml.YAMLError):
        load_yaml(BAD[name][0])


def test_code_that_snakemake_would_run(tmp_path):
    """If this key is true, Snakemake's reader of configurations evaluates values with a question mark."""
    path = tmp_path / "x.yaml"
    for text in ("__use_yte__: true\nseed: ?1+1\n", "<<: {__use_yte__: true}\nseed: ?1+1\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"x\.yaml: __use_yte__: lets Snakemake run code"):
            check_yaml(path)


def test_numbers_and_text_with_zeros_in_front(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("{a: 0, b: 0.5, c: 0x10, d: '010', e: 1.0e-4, f: -0, g: 10:30 am, h: 089}\n")
    found = {"a": 0, "b": 0.5, "c": 16, "d": "010", "e": 1e-4, "f": 0, "g": "10:30 am", "h": "089"}
    assert read_yaml(path) == found


def test_ordinary_aliases(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(
        "base: &base {seed: 1, list: [a, b]}\nb: {<<: *base, more: 2}\nc: [*base, *base]\n"
    )
    base = {"seed": 1, "list": ["a", "b"]}
    assert read_yaml(path) == {"base": base, "b": {**base, "more": 2}, "c": [base, base]}


def test_own_keys_count_before_merged_ones(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(
        "a: &a {seed: 1, cores: 2}\nb: &b {<<: *a, seed: 3}\nc: {cores: 4, <<: [{seed: 5}, *b]}\n"
        "d: {<<: {<<: *b, seed: 6}, more: 7}\n"
    )
    assert read_yaml(path) == {
        "a": {"seed": 1, "cores": 2},
        "b": {"seed": 3, "cores": 2},
        "c": {"seed": 5, "cores": 4},
        "d": {"seed": 6, "cores": 2, "more": 7},
    }
    for twice in ("b: {<<: *a, seed: 3, seed: 4}", "b: {<<: {<<: *a, seed: 3, seed: 4}}"):
        path.write_text(f"a: &a {{seed: 1}}\n{twice}\n")
        with pytest.raises(InputError, match=r"x\.yaml:2: .*'seed' stands here a second time"):
            read_yaml(path)
    path.write_text("a: &a {seed: 1}\nb: {<<: *a, <<: *a}\n")
    with pytest.raises(InputError, match=r"x\.yaml:2: .*'<<' stands here a second time"):
        read_yaml(path)


def test_bad_bytes(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes("a: é\r\n".encode() + "b: é\r\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"x\.yaml:2: not UTF-8 \(byte 0xe9\); save"):
        read_yaml(path)


def test_other_systems_files(tmp_path):
    """Windows writes CR LF, and its editors write a byte order mark."""
    (tmp_path / "x.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: {c: x}\r\n")
    assert read_yaml(tmp_path / "x.yaml") == {"a": 1, "b": {"c": "x"}}


def test_missing(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: no such file"):
        read_yaml(tmp_path / "none.yaml")


def test_large_files_and_pipes(tmp_path, monkeypatch):
    assert yaml_files.LARGEST == 4_194_304
    monkeypatch.setattr(yaml_files, "LARGEST", 2000)
    (tmp_path / "x.yaml").write_text("a: 1\n#" + "x" * (2000 - 7) + "\n")
    assert (tmp_path / "x.yaml").stat().st_size == 2000
    assert read_yaml(tmp_path / "x.yaml") == {"a": 1}
    with (tmp_path / "x.yaml").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match="more than 2,000 bytes"):
        read_yaml(tmp_path / "x.yaml")
    with pytest.raises(InputError, match="/dev/null: not a plain file"):
        check_yaml("/dev/null")
