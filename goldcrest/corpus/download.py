"""Files by URL, fetched once into a cache and known by their checksum."""

import errno
import logging
import os
import shutil
import urllib.request
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlparse

from goldcrest.errors import InputError
from goldcrest.files import atomic_path, sha256_file

log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where fetched files are kept: $GOLDCREST_CACHE, or `goldcrest` in the user's cache folder."""
    if folder := os.environ.get("GOLDCREST_CACHE"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "goldcrest"


def is_url(place: str) -> bool:
    """Whether a file's place is an address to fetch it from, not a path."""
    return "://" in place


def local_file(place: str, sha256: str | None = None) -> Path:
    """The file at a path or URL, with its checksum verified where one is given.

    Raises InputError where the file is missing, cannot be fetched, has another checksum, or a URL comes
    without one.
    """
    if not is_url(place):
        path = Path(place)
        if not path.is_file():
            raise InputError(f"{path}: no such file; check the path in the configuration")
        if sha256 is not None:
            _verify(path, place, sha256)
        return path
    if sha256 is None:
        raise InputError(f"{place}: a URL needs its sha256, so that every run reads the same file")
    path = cache_folder() / sha256[:16] / (Path(urlparse(place).path).name or "file")
    if not path.is_file():
        log.info("fetching %s", place)
        with atomic_path(path) as partial:
            try:
                # Any scheme is fetched; a configuration may name https:// alone.
                with (
                    urllib.request.urlopen(place, timeout=60) as answer,
                    partial.open("wb") as file,
                ):
                    shutil.copyfileobj(answer, file, 1 << 20)
            except (OSError, ValueError, HTTPException) as error:
                number = getattr(error, "errno", None)
                if number in (errno.ENOSPC, errno.EDQUOT):  # goldcrest.job says what to do
                    raise OSError(number, os.strerror(number), str(path)) from error
                raise InputError(
                    f"{place}: cannot be fetched ({error}); check the address and the network, or "
                    f"put the file at {path}"
                ) from error
            _verify(partial, place, sha256)
    else:
        _verify(path, place, sha256)
    return path


def _verify(path: Path, place: str, sha256: str) -> None:
    found = sha256_file(path)
    if found != sha256.lower():
        raise InputError(
            f"{place}: sha256 is {found}, expected {sha256.lower()}; fetch the file again, or "
            "correct the checksum in the configuration"
        )
