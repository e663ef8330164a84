"""Installed distributions: their requirements, and the bytes of their files."""

from collections.abc import Iterable, Mapping
from importlib import metadata
from types import MappingProxyType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def is_needed(requirement: Requirement, extras: Iterable[str] = ()) -> bool:
    """Return True if a requirement is needed here with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def required(
    requirements: Iterable[Requirement],
    known: Mapping[str, Iterable[Requirement]] = MappingProxyType({}),
) -> dict[str, metadata.Distribution]:
    """Return the installed distributions of requirements and of their own requirements, by name.

    known: requirements of distributions that are left out themselves, because they may not be installed.
    Raises PackageNotFoundError if a distribution is not installed.
    """
    waiting, seen, found = list(requirements), set(), {}
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if (name, *sorted(one.extras)) in seen:
            continue
        seen.add((name, *sorted(one.extras)))
        if name in known:
            others = known[name]
        else:
            found[name] = metadata.distribution(name)
            others = map(Requirement, found[name].requires or ())
        waiting += [other for other in others if is_needed(other, one.extras)]
    return found


def unpacked_bytes(distribution: metadata.Distribution) -> int:
    """Return the bytes of a distribution's files, without those that Python compiles."""
    places = (one.locate() for one in distribution.files or () if one.suffix != ".pyc")
    return sum(place.stat().st_size for place in places if place.is_file())
