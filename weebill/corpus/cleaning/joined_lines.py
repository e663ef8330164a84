"""Arrays of all characters of many lines at once, and sums of each line."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from weebill_runtime.characters import CODEPOINTS, code_points, of_category


@cache
def spaces() -> np.ndarray:
    """Return the characters, (0x110000,) bool, that are white space."""
    found = np.zeros(CODEPOINTS, bool)
    for code in np.flatnonzero(of_category("Z", "Cc")).tolist():
        found[code] = chr(code).isspace()
    return found


def joined_lines(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the code points of all lines, (characters,) uint32, and where each begins and ends, (lines + 1,) int64.

    Every line ends in a newline, so that no token crosses lines and no line is empty.
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    return code_points("\n".join([*texts, ""]) if texts else ""), bounds


def sums(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Sum the values, (characters,), of each line; return (lines,).  bounds: same as of `joined_lines`."""
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    return (
        np.add.reduceat(values, bounds[:-1], dtype=kind) if len(bounds) > 1 else np.zeros(0, kind)
    )
