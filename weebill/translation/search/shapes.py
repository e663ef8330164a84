"""Shapes of batches in a GPU's search: sizes are rounded up to few values, each with its own graphs."""

from dataclasses import dataclass

FEWEST_ROWS = 8
FEWEST_KEPT = 128  # with fewer rows, a step is hardly faster (docs/results/gpu)


@dataclass(frozen=True)
class Shape:
    """Sizes of a batch: rows (b), slots per row (k, its hypotheses), source positions (s).

    room: entries of the past, positions times slots; 0 without self-attention.  entries: those that are seen so far.
    """

    rows: int
    slots: int
    length: int
    room: int
    entries: int = 0


def round_rows(count: int) -> int:
    """Round a number of rows up to 8, 12, 16, 24, 32, …: powers of two, and those times three."""
    whole = max(FEWEST_ROWS, power_of_two(count))
    return whole * 3 // 4 if count <= whole * 3 // 4 and whole > FEWEST_ROWS else whole


def most_rows(count: int) -> int:
    """Return the largest number up to `count` that `round_rows` keeps; up to 8, `count` itself."""
    if count <= FEWEST_ROWS:
        return count
    below = 1 << (count.bit_length() - 1)
    return max(size for size in (below, below * 3 // 2) if size <= count)


def fewer_rows(rows: int, alive: int) -> int:
    """Return the number of rows for `alive` ones: halved while they fit, and while that saves time."""
    while rows >= 2 * FEWEST_KEPT and 2 * alive <= rows:
        rows //= 2
    return rows


def round_length(length: int) -> int:
    """Round a source's length up to a multiple of 8, or of 32 beyond 64."""
    return rounded(length, 8 if length <= 64 else 32)


def rounded(number: int, step: int) -> int:
    """Round a number up to a multiple of a step."""
    return -(-number // step) * step


def power_of_two(number: int) -> int:
    """Return the least power of two that is at least `number`."""
    return 1 << (number - 1).bit_length()
