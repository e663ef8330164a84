"""Error for bad input: one line for each fault, with the place and the remedy."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class InputError(Exception):
    """Bad input in a file, a line or a configuration key; the message has a line for each fault, with its remedy."""


@contextmanager
def placed(*places: object) -> Iterator[None]:
    """Put places, such as files or keys, before the message of an InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(map(str, places))}: {error}") from error


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return a suggestion to append to an error about an unknown name: "; did you mean 'tiny'?" or ""."""
    from difflib import get_close_matches

    matches = get_close_matches(str(name), list(valid), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""
