"""A configuration with one key changed."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def with_key(config: Mapping[str, Any], path: Sequence[str | int], value: Any) -> dict[str, Any]:
    """Return a copy of a configuration with the key at a path set, or removed by None."""
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
