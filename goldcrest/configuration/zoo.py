"""The architecture zoo, config/models.yaml."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from goldcrest.configuration import schema
from goldcrest.configuration.errors import ConfigurationError
from goldcrest.configuration.reading import read_yaml

MODELS = Path(__file__).parents[2] / "config" / "models.yaml"

Zoo = dict[str, dict[str, Any]]


def load_zoo(path: str | Path = MODELS) -> Zoo:
    """Every entry of a zoo file by its name, in the file's order.

    Raises InputError where the file cannot be read, ConfigurationError with all that is wrong in it.
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
    """What is wrong between the keys of one well-formed entry."""
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


def members(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The single models of an entry: itself, or one for each decoder depth that it lists."""
    depths = entry["decoder_layers"]
    if not isinstance(depths, list):
        return [entry]
    return [{**entry, "decoder_layers": depth} for depth in depths]


def member_of(entry: dict[str, Any], member: int) -> dict[str, Any]:
    """The model of one member, counted from 0, of a teacher ensemble."""
    return members(entry)[member] if isinstance(entry["decoder_layers"], list) else entry


def heads_in(entry: dict[str, Any], blocks: str) -> int:
    """How many heads a student has in the encoder's attention blocks whose names match a pattern."""
    names = (f"encoder.{layer}.self_attention" for layer in range(entry["encoder_layers"]))
    return entry["heads"] * sum(fnmatchcase(name, blocks) for name in names)
