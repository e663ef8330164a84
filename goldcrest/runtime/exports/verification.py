"""What was written, held against the network that it came from, before it appears."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np


def same_tensors(
    found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], folder: str | Path
) -> None:
    """Raises RuntimeError where what was read again is not, bit for bit, what was to be written."""
    other = [name for name, array in expected.items() if found[name].tobytes() != array.tobytes()]
    if other:
        raise RuntimeError(f"{folder}: written otherwise than meant: {', '.join(other)}")
