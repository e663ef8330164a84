"""Corpora of an experiment: the entries that name them, and the sides of their text."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from weebill.errors import Key
from weebill_runtime.names import SIDES, Side

Config = dict[str, Any]

# Side of a monolingual corpus by its key `use` in the configuration; None for parallel text.
USES: dict[str, Side | None] = {
    "parallel": None,
    "monolingual": "source",
    "monolingual-target": "target",
}


def sides_of(monolingual: Side | None) -> tuple[Side, ...]:
    """Return the sides of a text: one if it is monolingual, else both."""
    return SIDES if monolingual is None else (monolingual,)


def kind_of(monolingual: Side | None) -> str:
    """Return the name that the configuration's key `use` has for such text."""
    return next(use for use, side in USES.items() if side == monolingual)


SECTIONS = ("corpora", "validation", "test_sets")


class Entry(NamedTuple):
    """One importer entry and its key path; `monolingual` is the side of its text, None if it is parallel."""

    path: tuple[Key, ...]
    values: dict[str, Any]
    monolingual: Side | None = None


def entries(config: Config, sections: Iterable[str] = SECTIONS) -> Iterator[Entry]:
    """Yield the importer entries of these sections, in the order of the keys."""
    for section in sections:
        value = config[section]
        if isinstance(value, list):
            yield from (Entry((section, index), values) for index, values in enumerate(value))
        elif section == "validation":
            yield Entry((section,), value)
        else:
            for name, values in value.items():
                yield Entry((section, name), values, USES[values.get("use", "parallel")])
