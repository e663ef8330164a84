"""A whole configuration checked: the schema first, then what its keys say about each other."""

from collections.abc import Mapping
from typing import Any

from goldcrest.configuration import schema
from goldcrest.configuration.contradictions import contradictions
from goldcrest.configuration.data import SECTIONS, entries
from goldcrest.configuration.errors import ConfigurationError
from goldcrest.configuration.schema import Key
from goldcrest.configuration.student_names import with_students
from goldcrest.configuration.zoo import Zoo, load_zoo
from goldcrest.files import sha256_text


def check(config: Mapping[str, Any], origin: str, zoo: Zoo | None = None) -> dict[str, Any]:
    """`config` with every default filled in; `zoo` defaults to config/models.yaml.

    Synthetic text and noise that name no seed are given one, drawn from the experiment's seed and its place.
    Files are not looked for (see `missing_files`).  Checking a complete configuration changes nothing.
    Raises ConfigurationError with one line `ORIGIN: KEY.PATH: found, expected` for everything wrong.
    """
    zoo = load_zoo() if zoo is None else zoo
    rules = schema.load_schema("experiment")
    found = schema.faults(config, rules)
    known = schema.without_unknown_keys(config, found)
    # A section with a fault is left out of the comparison with others: what it means is not known.
    broken = {str(fault.path[0]) if fault.path else "" for fault in found if not fault.unknown_key}
    if "" in broken:
        raise ConfigurationError([fault.line(origin) for fault in found])
    complete = schema.filled(known, rules)
    for entry in entries(complete, [name for name in SECTIONS if name not in broken]):
        if entry.values["importer"] == "synthetic":
            entry.values.setdefault("seed", _derived_seed(complete.get("seed"), entry.path))
        elif "noise" in entry.values:
            place = (*entry.path, "noise")
            entry.values["noise"].setdefault("seed", _derived_seed(complete.get("seed"), place))
    if "students" not in broken:
        zoo = with_students(zoo, complete["students"])
    found += contradictions(complete, zoo, broken)
    if found:
        raise ConfigurationError([fault.line(origin) for fault in found])
    return complete


def _derived_seed(seed: Any, path: tuple[Key, ...]) -> int:
    """A seed of its own for each place of an experiment, below 2^32."""
    return int(sha256_text(f"{seed} {schema.key_path(path)}")[:8], 16)
