"""Configurations with one changed key, and the faults of a configuration."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from weebill.configuration.checking import check
from weebill.configuration.schema import ConfigurationError


def with_key(config: Mapping[str, Any], path: Sequence[str | int], value: Any) -> dict[str, Any]:
    """Return a copy of a configuration with the key at a path set (None removes it)."""
    config = copy.deepcopy(dict(config))
    *parents, last = path
    place: Any = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


def refused(config: Mapping[str, Any], zoo: Any = None) -> list[str]:
    """Return the error lines of a configuration, without the file name."""
    with pytest.raises(ConfigurationError) as refusal:
        check(config, "x.yaml", zoo)
    return [line.removeprefix("x.yaml: ") for line in refusal.value.errors]


def each_case(cases: Mapping[str, tuple[Any, Any, list[str]]]) -> pytest.MarkDecorator:
    """Return the decorator of a test of `cases`, by their names: changes, keys without, and expected lines."""
    return pytest.mark.parametrize(
        ("changes", "without", "expected"), cases.values(), ids=cases.keys()
    )
