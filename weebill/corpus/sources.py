"""The files that corpora are read from: what they are called, where they lie, and that they are the same ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weebill.corpus.download import base_name, cache_folder, fetched, is_url, verify
from weebill.errors import InputError
from weebill.files import sha256_file


@dataclass(frozen=True)
class Source:
    """One file of a corpus.

    place: its path or URL.  name: of the data set, which has perhaps a `version` and a `licence`.
    file_name: what `local_dir` knows it by; a URL's own last part may be that of many others.
    sha256: the checksum that it must have, where one is known beforehand.
    path: where it lies, if that is known and `place` does not tell it.
    """

    place: str
    name: str
    version: str | None = None
    licence: str | None = None
    file_name: str = ""
    sha256: str | None = None
    path: Path | None = None

    @property
    def wanted(self) -> str:
        """The file name to look for in a folder of files that were fetched elsewhere."""
        return self.file_name or (base_name(self.place) if is_url(self.place) else "")


@dataclass(frozen=True)
class Places:
    """Where the files of sources are: a folder of the user's, the cache; and the lock that they must match.

    local_dir: a folder in which every URL's file is looked for first, by its name.
    cache: the folder of downloads, `cache_folder()` without one.
    locked: the checksum of each place that the file `lock` knows.
    """

    local_dir: str | None = None
    cache: str | None = None
    lock: str = ""
    locked: Mapping[str, str] = field(default_factory=dict)

    @property
    def cache_path(self) -> Path:
        """The folder of downloads."""
        return cache_folder() if self.cache is None else Path(self.cache)

    def path(self, source: Source) -> Path:
        """The file of a source on this machine, fetched if need be.

        Raises InputError where it is missing, cannot be fetched, or has another checksum than the
        configuration or the lock file tells.
        """
        path = self._found(source)
        if (locked := self.locked.get(source.place)) is not None:
            self._check_lock(path, source, locked)
        return path

    def _found(self, source: Source) -> Path:
        if source.path is not None or not is_url(source.place):
            path = source.path or Path(source.place)
            if not path.is_file():
                raise InputError(f"{path}: no such file; check the path in the configuration")
        elif (own := self._own(source)) is not None:
            path = own
        else:
            return fetched(source.place, source.sha256, self.cache_path, source.wanted)
        if source.sha256 is not None:
            verify(path, str(path), source.sha256)
        return path

    def _own(self, source: Source) -> Path | None:
        """The user's own copy of what a URL holds."""
        if self.local_dir is None:
            return None
        path = Path(self.local_dir) / source.wanted
        return path if path.is_file() else None

    def _check_lock(self, path: Path, source: Source, locked: str) -> None:
        found = sha256_file(path)
        if found != locked:
            raise InputError(
                f"{source.place}: changed since it was first read: {self.lock} has sha256 {locked}, "
                f"{path} has {found}; bring the former file back, or, if the change is meant, remove "
                f"{self.lock} and run again"
            )


def local_file(place: str, sha256: str | None = None, places: Places | None = None) -> Path:
    """The file at a path or URL, with its checksum verified where one is given.

    Raises InputError where the file is missing, cannot be fetched, has another checksum, or a URL comes
    without one.
    """
    check_known(place, sha256)
    return (places or Places()).path(Source(place, name=place, sha256=sha256))


def check_known(place: str, sha256: str | None) -> None:
    """Raise InputError where a URL comes without its checksum."""
    if is_url(place) and sha256 is None:
        raise InputError(f"{place}: a URL needs its sha256, so that every run reads the same file")
