"""Unpacking of archives of published bicleaner-ai models."""

import gzip
import tarfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

from weebill.errors import InputError, abridged
from weebill.files import atomic_folder
from weebill.replaceable import FolderKind


def unpack(archive: str | Path, output: str | Path) -> None:
    """Write the model in a .tgz to the folder `output`: the files in the same folder as its only metadata.yaml.

    Raises InputError if the archive is damaged, holds no model or several, or has a member that is neither a file nor
    a folder or would be unpacked outside the folder.
    """
    try:
        with tarfile.open(archive, "r:gz") as files:
            found = [name for name in files.getnames() if Path(name).name == "metadata.yaml"]
            if len(found) != 1:
                raise InputError(
                    f"{archive}: {len(found)} files metadata.yaml, expected one: this is no model of bicleaner-ai"
                )
            _refuse_members(archive, files)
            place = Path(found[0]).parent
            inside = [path for path in map(Path, files.getnames()) if path.is_relative_to(place)]
            names = tuple(path.relative_to(place).as_posix() for path in inside)
            kind = FolderKind(always=("metadata.yaml",), perhaps=names)
            with atomic_folder(output, kind) as made, TemporaryDirectory(dir=made) as unpacked:
                files.extractall(unpacked, filter="data")
                for file in Path(unpacked, place).iterdir():
                    file.rename(made / file.name)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"{archive}: damaged or no archive ({error}); fetch the file again"
        raise InputError(message) from error


def _refuse_members(archive: str | Path, files: tarfile.TarFile) -> None:
    """Raise InputError if a member is a link or a device, or has an absolute name or one with '..'."""
    for member in files:
        path = Path(member.name)
        if not (member.isfile() or member.isdir()) or path.is_absolute() or ".." in path.parts:
            raise InputError(
                f"{archive}: member '{abridged(member.name)}' is no file inside the folder; nothing was unpacked; "
                "take the model from its authors"
            )
