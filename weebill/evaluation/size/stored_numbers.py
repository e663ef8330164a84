"""Numbers in the parameter files of a model folder, counted by type."""

import math
from pathlib import Path

from weebill.evaluation.measurement import parameter_files


def stored_numbers(folder: str | Path) -> dict[str, int]:
    """Return how many numbers of each type are stored: {"F32": 406291456}; codes of weights are I8.

    Raises InputError if there are no parameter files.
    """
    # Import here: the workflow reads sizes at every start, and this import takes seconds.
    from safetensors import safe_open

    found: dict[str, int] = {}
    for path in parameter_files(folder):
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118
                part = file.get_slice(name)
                kind = part.get_dtype()
                found[kind] = found.get(kind, 0) + math.prod(part.get_shape())
    return found
