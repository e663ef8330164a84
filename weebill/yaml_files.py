"""Strict reader of YAML files: a repeated key is an error, and every error names its line.

Repetition by aliases is limited, because a few lines of aliases can stand for more values than any memory holds.
"""

import re
from collections.abc import Callable, Hashable
from pathlib import Path
from types import NoneType
from typing import Any

import yaml

from weebill.errors import InputError, abridged

LARGEST = 1 << 22  # bytes of a file
REPEATED = 1 << 16  # values and characters that aliases may add to a file
TEMPLATE = (
    "__use_yte__"  # key by which Snakemake evaluates values and keys with a question mark as Python
)
OTHER_BASE = re.compile(
    r"[-+]?(0_*[0-7]|[0-9_]+:)"
)  # numbers such as 010, which means 8, and 1:30, which means 90


class _Loader(yaml.SafeLoader):
    """Loader of safe YAML that refuses aliases to their own parents, and aliases that repeat too much."""

    def construct_document(self, node: yaml.Node) -> Any:
        """Return the value of a document.  Raises ConstructorError if its aliases repeat too much."""
        _check_aliases(node, {}, 2 * self.index + REPEATED)
        return super().construct_document(node)


def _check_aliases(node: yaml.Node, sizes: dict[yaml.Node, int | None], most: int) -> int:
    """Return the number of a node's values and characters, with each alias replaced by its node.

    sizes: known sizes of nodes; None for nodes that contain this one.
    """
    if node in sizes:
        size, problem = sizes[node], "an alias to what it is part of"
    else:
        sizes[node], size = None, 1
        if isinstance(node, yaml.ScalarNode):
            size += len(node.value)
        for part in node.value if isinstance(node, yaml.CollectionNode) else ():
            for one in part if isinstance(part, tuple) else (part,):
                size += _check_aliases(one, sizes, most)
        sizes[node], problem = size, "aliases stand for too much text in all"
    if size is None or size > most:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return size


class _StrictLoader(_Loader):
    """Loader of safe YAML in which a mapping has each key only once, apart from keys that `<<` merges into it."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._flat: set[yaml.MappingNode] = (
            set()
        )  # mappings with their merged keys before their own

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put merged keys before a mapping's own keys, which override them; a repeated own key is an error."""
        if node not in self._flat:
            self._flat.add(node)
            self._check_keys(node)
            super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key_node, _ in node.value:
            merges = key_node.tag == "tag:yaml.org,2002:merge"
            key = "<<" if merges else self.construct_object(key_node, deep=True)
            problem = None
            if not isinstance(key, Hashable):
                problem = f"{key!r} is no possible key"
            elif key in seen:
                problem = f"{key!r} stands here a second time"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict:
    loader.flatten_mapping(node)
    return {
        loader.construct_object(key, deep=True): loader.construct_object(value, deep=True)
        for key, value in node.value
    }


def _checked(construct: Callable) -> Callable:
    """Return a constructor that refuses numbers with a surprising meaning: octal ones, and those in base 60.

    A ValueError for an invalid date or number names the line.
    """

    def constructed(loader: _StrictLoader, node: yaml.Node) -> Any:
        try:
            value = construct(loader, node)
        except ValueError as error:
            problem = f"'{abridged(node.value, 40)}' is no date or number that can be read, write quotes for text"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error
        if isinstance(value, int | float) and OTHER_BASE.match(node.value):
            problem = f"'{node.value}' would be the number {value}, write that, or quotes for text"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value

    return constructed


for _kind in ("int", "float", "timestamp"):
    _tag = f"tag:yaml.org,2002:{_kind}"
    _StrictLoader.add_constructor(_tag, _checked(yaml.SafeLoader.yaml_constructors[_tag]))
_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


class _ForeignLoader(_Loader):
    """Loader of what another program wrote; a tuple of Python, as Lightning writes it, becomes a list."""


_ForeignLoader.add_constructor("tag:yaml.org,2002:python/tuple", _Loader.construct_yaml_seq)


def load_yaml(text: str) -> Any:
    """Return the value in a YAML text of another program; the last of equal keys counts.

    Raises yaml's errors, ValueError for an impossible date or number, and RecursionError.
    """
    return yaml.load(text, Loader=_ForeignLoader)


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read the mapping in a YAML file.  Raises InputError with file and line if it is not a mapping or not UTF-8."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise InputError(
                f"{path}: more than {LARGEST:,} bytes; is this the file that you mean?"
            )
        text = data.decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: a folder, expected a file") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte {data[error.start]:#04x}); save the file as UTF-8"
        ) from error
    return parse_yaml(text, path)


def check_yaml(path: str | Path) -> None:
    """Raise InputError for a file that Snakemake, which reads it several times, cannot read as a configuration."""
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise InputError(f"{path}: not a plain file, and it is read several times; save it as one")
    if TEMPLATE in read_yaml(path):
        raise InputError(f"{path}: {TEMPLATE}: lets Snakemake run code in the file; remove the key")


def parse_yaml(text: str, path: str | Path) -> dict[str, Any]:
    """Read the mapping in the text of a YAML file.  Raises InputError with file and line if it is not a mapping."""
    try:
        values = yaml.load(text, Loader=_StrictLoader)
    except RecursionError as error:
        raise InputError(f"{path}: not valid YAML: nested too deeply; mend it") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(
            f"{path}:{line}: not valid YAML: the character {error.character:#04x} is not allowed; remove it"
        ) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        tab = mark is not None and text.splitlines()[mark.line : mark.line + 1]
        remedy = "write blanks for the tab" if tab and "\t" in tab[0] else "mend this line"
        raise InputError(f"{place}: not valid YAML: {problem}; {remedy}") from error
    if not isinstance(values, dict):
        found = {list: "a list", NoneType: "nothing"}.get(type(values), "a single value")
        raise InputError(f"{path}: found {found}, expected keys with values, such as `seed: 1`")
    return values
