"""Check of a whole configuration: first its schema, then contradictions between its keys."""

from collections.abc import Mapping
from typing import Any

from weebill.configuration import schema
from weebill.configuration.errors import ConfigurationError
from weebill.configuration.kinds import KINDS, kind_of
from weebill.configuration.origins import resolve
from weebill.configuration.zoo_file import load_zoo
from weebill.experiment.zoo import Zoo


def check(config: Mapping[str, Any], origin: str, zoo: Zoo | None = None) -> dict[str, Any]:
    """Return `config` with every default filled in; `zoo` defaults to config/models.yaml.

    A name of a public text becomes the place where the workflow makes the text.  Noise without a seed gets one, and
    embedded text without `skip` gets pairs that no other entry has.
    This does not look for files; `missing_files` does.  Checking a complete configuration changes nothing.
    Raises ConfigurationError with one line `ORIGIN: KEY.PATH: found, expected` for every fault.
    """
    name = kind_of(config, origin)
    kind, rules = KINDS[name], schema.load_schema(name)
    found = schema.faults(config, rules)
    known = schema.without_unknown_keys(config, found)
    # A section with a fault is not compared with others, because its meaning is not known.
    broken = {str(fault.path[0]) if fault.path else "" for fault in found if not fault.unknown_key}
    if "" in broken:
        raise ConfigurationError([fault.line(origin) for fault in found])
    complete = resolve(schema.filled(known, rules), found)
    kind.complete(complete, broken)
    found += kind.contradictions(complete, load_zoo() if zoo is None else zoo, broken)
    if found:
        raise ConfigurationError([fault.line(origin) for fault in found])
    return complete
