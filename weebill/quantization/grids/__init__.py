"""The grids that weights are rounded to, by name; each is loaded on use.

A new grid is a file with a class that is a `grid.Grid`, and an entry in `experiment.precisions`, which names it.
"""

from functools import cache

from weebill.errors import InputError, nearest
from weebill.experiment import precisions
from weebill.quantization.grid import Grid
from weebill.registry import Registry

GRIDS: Registry[type[Grid]] = Registry(precisions.GRIDS)


@cache
def grid_named(name: str) -> Grid:
    """Return the grid of a name.  Raises InputError with the nearest valid name where there is none."""
    if name not in GRIDS:
        raise InputError(f"no quantization grid '{name}'{nearest(name, GRIDS)}")
    return GRIDS[name]()
