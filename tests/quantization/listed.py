"""Grids of listed numbers that the library does not have, as a user would add them: in 4 bits and in 8."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from weebill.quantization import grids
from weebill.quantization.grids.listed import ListedGrid


class Sevenths(ListedGrid):
    """Fifteen numbers k/7, k = −7…7, in no order."""

    name = "sevenths"
    numbers = tuple((8 * k % 15 - 7) / 7 for k in range(15))


class Log8(ListedGrid):
    """Numbers ±2^(k/16), k = −127…0."""

    name = "log8"
    numbers = tuple(sign * 2 ** (k / 16) for k in range(-127, 1) for sign in (1, -1))


LISTED = {one.name: f"{__name__}:{one.__name__}" for one in (Sevenths, Log8)}


@contextmanager
def listed_grids() -> Iterator[None]:
    """Add the grids to the library's."""
    with pytest.MonkeyPatch.context() as change:
        change.setattr(grids.GRIDS, "_places", grids.GRIDS._places | LISTED)
        yield
