"""Source files of corpora: names, places, and the check that they have not changed."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weebill.corpus.download import (
    base_name,
    cache_folder,
    cached,
    fetched,
    is_sound,
    is_url,
    verify,
)
from weebill.errors import InputError, Key
from weebill.files import sha256_file

Problem = tuple[tuple[Key, ...], str]  # key path in a configuration, and the fault


@dataclass(frozen=True)
class Source:
    """One file of a corpus.

    place: path or URL of the file.  name: name of the data set, which may have a `version` and a `licence`.
    file_name: name of the file in `local_dir`.  sha256: checksum that the file must have, if it is known beforehand.
    path: local path, if it is known and differs from `place`.
    mirrored: name of the file in a mirror; by default the checksum.  bytes: size, if it is known beforehand.
    """

    place: str
    name: str
    version: str | None = None
    licence: str | None = None
    file_name: str = ""
    sha256: str | None = None
    path: Path | None = None
    mirrored: str | None = None
    bytes: int | None = None

    @property
    def wanted(self) -> str:
        """File name to look for in a folder of files that were fetched elsewhere; empty for a local file."""
        return self.file_name or (base_name(self.place) if is_url(self.place) else "")


@dataclass(frozen=True)
class Places:
    """Folders of source files, and the lock file whose checksums they must have.

    local_dir: the user's own folder; the file of every URL is searched there first, by its name.
    cache: folder of downloads, by default `cache_folder()`.  lock: the lock file.  locked: its checksums, by place.
    mirror: folder of files under their checksums, which replaces the network; by default $WEEBILL_MIRROR.
    """

    local_dir: str | None = None
    cache: str | None = None
    mirror: str | None = None
    lock: str = ""
    locked: Mapping[str, str] = field(default_factory=dict)

    @property
    def cache_path(self) -> Path:
        """Folder of downloads."""
        return cache_folder() if self.cache is None else Path(self.cache)

    def path(self, source: Source) -> Path:
        """Return the local file of a source; fetch it if necessary.

        Raises InputError if it is missing, cannot be fetched, or has a checksum other than configured or locked.
        """
        path = self._local(source)
        if path is None:
            mirrored = self.mirrored(source)
            if mirrored is not None and source.sha256 is None:
                path = mirrored  # without a checksum, a bad copy in the cache would not be noticed
            else:
                known = source.place, source.sha256, self.cache_path, source.wanted
                path = fetched(*known, mirrored)
        elif not path.is_file():
            raise InputError(f"{path}: no such file; check the path in the configuration")
        elif source.sha256 is not None:
            verify(path, str(path), source.sha256)
        locked = self.locked.get(source.place)
        if locked is not None and (found := sha256_file(path)) != locked:
            raise InputError(
                f"{source.place}: changed since it was first read: {self.lock} has sha256 {locked}, "
                f"{path} has {found}; bring the former file back, or, if the change is meant, remove "
                f"{self.lock} and run again"
            )
        return path

    def here(self, source: Source) -> Path | None:
        """Return the local file of a source without a check; None if it would have to be fetched."""
        path = self._local(source) or cached(source.place, source.sha256, self.cache_path)
        return path if path.is_file() else None

    def mirrored(self, source: Source) -> Path | None:
        """Return the file of a source in the mirror, named by its checksum with any suffix; None if there is none.

        Raises InputError if the mirror is no folder.
        """
        folder = self.mirror or os.environ.get("WEEBILL_MIRROR") or None
        if folder is not None and not Path(folder).is_dir():
            raise InputError(
                f"{folder}: no such folder, and `mirror` or $WEEBILL_MIRROR names it; correct the name or remove it"
            )
        name = source.mirrored or source.sha256
        if folder is None or name is None:
            return None
        paths = (Path(folder) / name, *Path(folder).glob(f"{name}.*"))
        return next((path for path in paths if path.is_file()), None)

    def _local(self, source: Source) -> Path | None:
        """Return the path of a local source, or of the user's own copy of a URL's file; None without a copy."""
        if source.path is not None or not is_url(source.place):
            return source.path or Path(source.place)
        own = Path(self.local_dir or "", source.wanted)
        return own if self.local_dir is not None and own.is_file() else None


def local_file(place: str, sha256: str | None = None, places: Places | None = None) -> Path:
    """Return the local file of a path or URL; verify its checksum if one is given.

    Raises InputError if the file is missing, cannot be fetched or has another checksum, or if a URL has no checksum.
    """
    check_known(place, sha256)
    return (places or Places()).path(Source(place, name=place, sha256=sha256))


def address_faults(
    place: tuple[Key, ...], path: str, checksum_place: tuple[Key, ...], checksum: Any
) -> Iterator[Problem]:
    """Yield a fault for an address that is not https, or that has no checksum; local paths have no fault."""
    if is_url(path) and not path.startswith("https://"):
        yield place, f"found '{path}', expected a local path or an address https://…"
    elif is_url(path) and not is_sound(path):
        yield place, f"found '{path}', whose host or port is none; mend the address"
    elif is_url(path) and checksum is None:
        yield checksum_place, f"missing, expected the SHA-256 of what {path} holds"


def check_known(place: str, sha256: str | None) -> None:
    """Raise InputError if a URL has no checksum."""
    if is_url(place) and sha256 is None:
        raise InputError(f"{place}: a URL needs its sha256, so that every run reads the same file")
