"""Strict reader of YAML files: a repeated key is an error, and every error names its line."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from weebill.errors import InputError


class _StrictLoader(yaml.SafeLoader):
    """Loader of safe YAML in which a mapping may name a key only once."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict:
    loader.flatten_mapping(node)
    values: dict = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        problem = None
        if not isinstance(key, Hashable):
            problem = f"{key!r} is no possible key"
        elif key in values:
            problem = f"{key!r} stands here a second time"
        if problem:
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        values[key] = loader.construct_object(value_node, deep=True)
    return values


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read the mapping in a YAML file; raise InputError with file and line if it is none, or not UTF-8."""
    path = Path(path)
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(f"{place}: not valid YAML: {problem}; mend this line") from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: found {type(values).__name__}, expected keys with values")
    return values
