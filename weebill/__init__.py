"""Weebill: makes translation models small and fast, and shows what each step costs and gains.

In Python, `load(folder)` returns a translator, `Scorer(model)` a COMET metric, `load_int8(folder)` a text generator.
They are imported on first use; `import weebill` itself needs only the standard library.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

# In environments without the runtime, such as those of some rules, its Python modules are found in the clone.
if find_spec("weebill_runtime") is None:
    sys.path.append(f"{__path__[0]}/../runtime")
__version__ = "0.2.0"
__all__ = ["InputError", "Scorer", "SearchOptions", "load", "load_int8"]

# Modules that define the names.  They are relative, so that workflow.import_closure does not count them as imports of
# every module.
_PLACES = {
    "InputError": ".errors",
    "Scorer": ".metric.scorer",
    "SearchOptions": "weebill_runtime.options",
    "load": ".runtime.loading",
    "load_int8": ".generation.int8",
}
_EXTRAS = {"Scorer": "metric", "load_int8": "generation"}  # others: train


def __getattr__(name: str) -> object:
    """Import a name of the interface on its first use."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = globals()[name] = getattr(import_module(_PLACES[name], __name__), name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"weebill.{name}: the Python module '{error.name}' is not installed here; in Weebill's folder, "
            f"`pip install ./runtime '.[{_EXTRAS.get(name, 'train')}]'` installs what this name needs",
            name=error.name,
        ) from error
    return value


def __dir__() -> list[str]:
    """List all names, including those of the interface."""
    return sorted({*globals(), *_PLACES})
