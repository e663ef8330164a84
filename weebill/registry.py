"""Registries: tables of what the library can do, by name, each entry a file of its own that is loaded on use."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping of names to classes or functions, made from a table such as {"tmx": "corpus.importers.tmx:Tmx"}.

    Places are below `weebill`.  Only the module of an entry that is asked for is imported, so that who uses one entry
    neither waits for the others nor depends on their code.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self._places[name].partition(":")
        return getattr(import_module(f"weebill.{module}"), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._places  # without loading it

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def module(self, name: str) -> str:
        """Return the module of an entry, such as "corpus.importers.tmx", for fingerprints of its code."""
        return self._places[name].partition(":")[0]
