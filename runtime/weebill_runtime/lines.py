"""Check of the lines that a program gives."""

from collections.abc import Iterable, Mapping, Set

from weebill_runtime.errors import InputError


def checked_iterable(name: str, lines: Iterable[str]) -> Iterable[str]:
    """Return lines; raise InputError, which mentions `name`, for a single string and what is in no order."""
    if isinstance(lines, str | bytes | Mapping | Set) or not isinstance(lines, Iterable):
        raise InputError(f"{name}: found {lines!r:.60}, expected a list of strings")
    return lines


def checked_lines(name: str, lines: Iterable[str], first: int = 1) -> list[str]:
    """Return a program's lines as a list.  first: number of the first line.

    Raises InputError, which mentions `name`, for a single string, for a line that is not a string, and for a line
    with half a character (a surrogate), which UTF-8 cannot hold.
    """
    found = list(checked_iterable(name, lines))
    for number, line in enumerate(found, start=first):
        if not isinstance(line, str):
            raise InputError(
                f"{name}: line {number} is {line!r:.60}, expected a string; give '' for an empty line"
            )
        if not line.isascii():
            try:
                line.encode("utf-8")
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{name}: line {number} has half a character (a lone surrogate) at column {error.start + 1}; "
                    "remove it"
                ) from error
    return found
