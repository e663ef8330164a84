"""Thresholds of all filters, the section `rules` of a configuration.

A module of filters that has thresholds holds them in a settings class `Thresholds`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Literal

from weebill.corpus.cleaning.filters import FILTERS
from weebill.settings import Unique

_MODULES = map(import_module, dict.fromkeys(map(FILTERS.module, FILTERS)))
_CLASSES = [module.Thresholds for module in _MODULES if hasattr(module, "Thresholds")]


@dataclass(frozen=True)
class Rules(*reversed(_CLASSES)):
    """Thresholds of the rules (WNGT20 §3, WMT21 §2)."""

    disabled: Annotated[tuple[Literal[tuple(FILTERS)], ...], Unique()] = ()
    """Filters that are not applied, by the names that the cleaning report shows: `[numbers, garbled]`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "disabled", tuple(self.disabled))  # a configuration gives a list
