"""Reader of the architecture zoo's file, with checks."""

from pathlib import Path
from typing import Any

from weebill.configuration import schema
from weebill.configuration.errors import ConfigurationError
from weebill.experiment.zoo import MODELS, Zoo
from weebill.yaml_files import read_yaml


def load_zoo(path: str | Path = MODELS) -> Zoo:
    """Read every entry of a zoo file by its name, in the file's order.

    Raises InputError if the file cannot be read, ConfigurationError with all faults of its content.
    """
    zoo = read_yaml(path)
    found = schema.faults(zoo, schema.load_schema("models"))
    lines = [fault.line(str(path)) for fault in found]
    broken = {fault.path[0] for fault in found if fault.path}
    for name, entry in zoo.items():
        if name not in broken:
            lines += [f"{path}: {name}: {problem}" for problem in _contradictions(entry)]
    if lines:
        raise ConfigurationError(lines)
    return zoo


def _contradictions(entry: dict[str, Any]) -> list[str]:
    """Return the contradictions between the keys of one well-formed entry."""
    problems = []
    if entry["attention_width"] % entry["heads"]:
        problems.append(
            f"attention_width {entry['attention_width']} is no multiple of heads {entry['heads']}"
        )
    if entry["embedding"] % 2:
        problems.append(
            f"embedding {entry['embedding']} is odd; sinusoidal positions need an even width"
        )
    return problems
