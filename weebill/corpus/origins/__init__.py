"""Public texts by name: addresses and checksums of their originals, licence, and the step that makes our text.

`texts.yaml` lists them, and a configuration may define more in its section `origins`.  Every key for a file accepts
`origin:NAME`.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.corpus.importers.reading import TextFile, open_text
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError, nearest
from weebill.experiment.origins import FOLDER, PREFIX
from weebill.files import atomic_path, sha256_file
from weebill.yaml_files import read_yaml

if TYPE_CHECKING:
    from weebill.corpus.origins.defined import DefinedText

TEXTS = Path(__file__).with_name("texts.yaml")


@dataclass(frozen=True)
class Origin:
    """Public text.

    originals: source files by the end of their addresses.
    step: name in STEPS; None: the text is the only original, decompressed.
    sha256, bytes, lines: checksum and size of the text; lines is None if the file is not a text.
    """

    name: str
    licence: str
    originals: Mapping[str, Source]
    sha256: str
    bytes: int
    lines: int | None = None
    step: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Path of the finished text below the workflow's folder."""
        return FOLDER / self.name

    def sources(self, _places: Places) -> list[Source]:
        """Return the originals."""
        return list(self.originals.values())

    def make(self, path: str | Path, places: Places) -> None:
        """Fetch the originals and write the text.

        Raises InputError if an original cannot be fetched or has changed, or the text has another checksum.
        """
        files = {end: places.path(source) for end, source in self.originals.items()}
        with atomic_path(path) as partial:
            with partial.open("wb") as file:
                if self.step is None:
                    (original,) = files.values()
                    with open_text(TextFile(original, suffix=original.suffix)) as packed:
                        shutil.copyfileobj(packed, file)
                else:
                    from weebill.corpus.origins.steps import STEPS

                    lines = STEPS[self.step](files, **self.options)
                    file.writelines(line.encode() + b"\n" for line in lines)
            if (found := sha256_file(partial)) != self.sha256:
                raise InputError(
                    f"{PREFIX}{self.name}: the text made from its originals has sha256 {found}, expected "
                    f"{self.sha256}; a library that splits or joins text has changed (make setup)"
                )


@cache
def catalogue() -> dict[str, Origin]:
    """Return all public texts in `texts.yaml`, by name."""
    return {name: _origin(name, values) for name, values in read_yaml(TEXTS).items()}


def origin(name: str, own: Mapping[str, Any] | None = None) -> "Origin | DefinedText":
    """Return a public text, or one that the section `origins` of a configuration defines.

    Raises InputError if there is none of this name.
    """
    if own and name in own:
        from weebill.corpus.origins.defined import DefinedText

        return DefinedText(name, own[name])
    found = catalogue()
    if name not in found:
        raise InputError(
            f"{PREFIX}{name}: no such text{nearest(name, found)}; `weebill fetch --list` lists all"
        )
    return found[name]


def _origin(name: str, values: Mapping[str, Any]) -> Origin:
    rest = dict(values)
    start, files = rest.pop("from"), rest.pop("files")
    common = {"name": name, "licence": values["licence"]}
    originals = {
        end: Source(start + end, sha256=_sha256(checksum), mirrored=checksum, bytes=size, **common)
        for end, (checksum, size) in files.items()
    }
    known = {key: rest.pop(key, None) for key in ("licence", "sha256", "bytes", "lines", "step")}
    return Origin(name, originals=originals, options=rest, **known)


def _sha256(checksum: str) -> str | None:
    """Return the SHA-256 of an original; None if only a git tree hash is known, because servers pack it again."""
    return None if checksum.startswith("git-tree-") else checksum
