"""The one error a user meets: a line for each fault, which names the place and the remedy."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(Exception):
    """Bad input: a file, a line or a configuration key.  The message is a line for each fault, with its remedy."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """The suggestion to append to an error about an unknown name: "; did you mean 'tiny'?" or ""."""
    matches = get_close_matches(str(name), list(valid), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""
