"""Registries: named entries of the library, each in its own file, which is loaded when the entry is used."""

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Mapping of names to objects, from a table like {"opus": "package.module:Name"}; objects are loaded on use."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> T:
        return resolve_name(self._places[name])

    def __contains__(self, name: object) -> bool:
        return name in self._places  # without loading it

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def module(self, name: str) -> str:
        """Return the module of an entry, such as "weebill.corpus.importers.opus", for fingerprints of its code."""
        return self._places[name].partition(":")[0]
