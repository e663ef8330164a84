"""Translation by small models on the processor, without PyTorch: `Translator(folder).translate(lines)`.

The names are imported on first use.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weebill_runtime.engines import available, engine, has_bfloat16
    from weebill_runtime.errors import InputError
    from weebill_runtime.options import SearchOptions
    from weebill_runtime.translator import Translator

# If the sources are on Python's path, the compiled modules still come from the installed distribution.
__path__ += [f"{place}/{__name__}" for place in sys.path if place]
__version__ = "0.2.0"  # same as weebill's
__all__ = ["InputError", "SearchOptions", "Translator", "available", "engine", "has_bfloat16"]

_MODULES = {
    "InputError": ".errors",
    "SearchOptions": ".options",
    "Translator": ".translator",
    "available": ".engines",
    "engine": ".engines",
    "has_bfloat16": ".engines",
}


def __getattr__(name: str) -> object:
    """Import a name of the interface on its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    """List the names of the interface too."""
    return sorted({*globals(), *_MODULES})
