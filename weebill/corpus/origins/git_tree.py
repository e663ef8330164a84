"""Git folders in archives that a server packs again each time; we verify their files instead of the archive."""

import hashlib
import tarfile
from collections.abc import Mapping
from pathlib import Path

from weebill.corpus.download import again
from weebill.corpus.importers.reading import damage
from weebill.errors import InputError


def git_tree(path: Path, child: str, expected: str) -> dict[str, bytes]:
    """Return the files, {path: bytes}, of the folder that holds `child` in a tar archive.

    Raises InputError if the archive is damaged or lacks the folder, or the folder's git tree is not `expected`.
    """
    files: dict[str, tuple[str, bytes]] = {}
    with damage(path, lambda: ""), tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                mode = "100755" if member.mode & 0o100 else "100644"
                files[member.name] = mode, archive.extractfile(member).read()
    start = next((name[: name.index(f"{child}/")] for name in files if f"{child}/" in name), None)
    if start is None:
        raise InputError(f"{path}: has no folder '{child}'; {again(path)}")
    inside = {n.removeprefix(start): one for n, one in files.items() if n.startswith(start)}
    with damage(path, lambda: ""):  # folders may be too deep
        found = tree_hash(inside)
    if found != expected:
        raise InputError(
            f"{path}: the files around '{child}' have the git tree {found}, expected {expected}; "
            f"they changed at their origin, or {again(path)}"
        )
    return {name: data for name, (_, data) in inside.items()}


def tree_hash(files: Mapping[str, tuple[str, bytes]]) -> str:
    """Return git's hash of the tree with these files, {path: (mode, bytes)}."""
    entries, folders = [], {}
    for name, one in files.items():
        first, _, rest = name.partition("/")
        if rest:
            folders.setdefault(first, {})[rest] = one
        else:
            entries.append((first, one[0], _object("blob", one[1])))
    entries += [(name, "40000", tree_hash(inside)) for name, inside in folders.items()]
    entries.sort(key=lambda entry: _bytes(entry[0]) + (b"/" if entry[1] == "40000" else b""))
    return _object(
        "tree",
        b"".join(_bytes(f"{mode} {name}\0") + bytes.fromhex(h) for name, mode, h in entries),
    )


def _bytes(name: str) -> bytes:
    """Return the bytes of a member's name; tarfile decodes it with `surrogateescape` if it is not UTF-8."""
    return name.encode("utf-8", "surrogateescape")


def _object(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()
