"""Thresholds of all filters, the section `rules` of a configuration.

A module of filters that has thresholds holds them in a settings class `Thresholds`.
"""

from dataclasses import dataclass
from importlib import import_module

from weebill.corpus.cleaning.filters import FILTERS

_MODULES = map(import_module, dict.fromkeys(map(FILTERS.module, FILTERS)))
_CLASSES = [module.Thresholds for module in _MODULES if hasattr(module, "Thresholds")]


@dataclass(frozen=True)
class Rules(*reversed(_CLASSES)):
    """Thresholds of the rules (WNGT20 §3, WMT21 §2)."""

    def __post_init__(self) -> None:
        for kind in _CLASSES:
            if hasattr(kind, "__post_init__"):
                kind.__post_init__(self)  # else the check of one class would hide the others'
