"""Texts that a configuration defines in its section `origins`: a file at an address, or one side of a corpus."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from weebill.corpus.importers.entries import importer_from
from weebill.corpus.importers.reading import TextFile, damage, open_text
from weebill.corpus.sources import Places, Source
from weebill.files import atomic_path
from weebill.text_files import Omitted
from weebill_runtime.names import SIDES

ADDRESS = "address"  # importer of one file at an address


@dataclass(frozen=True)
class DefinedText:
    """Text that an entry of the section `origins` defines."""

    name: str
    entry: Mapping[str, Any]

    def sources(self, places: Places) -> list[Source]:
        """Return the files that the text is made from.  Raises InputError if they cannot be determined."""
        if self.entry["importer"] == ADDRESS:
            return [Source(self.entry["url"], name=self.name, sha256=self.entry["sha256"])]
        return self._importer().sources(self._languages(), self.entry["side"], places)

    def make(self, path: str | Path, places: Places) -> None:
        """Fetch the files and write the text.  Raises InputError if a file cannot be fetched or read."""
        sources = [replace(one, path=places.path(one)) for one in self.sources(places)]
        with atomic_path(path) as partial, partial.open("wb") as file:
            if self.entry["importer"] == ADDRESS:
                with _opened(sources[0].path, self.entry.get("member")) as text:
                    shutil.copyfileobj(text, file)
            else:
                side = self.entry["side"]
                rows = self._importer().read(sources, self._languages(), side)
                for row in rows:
                    text = row[SIDES.index(side)]
                    if isinstance(text, Omitted):
                        raise text.refusal()
                    file.write(text.encode() + b"\n")

    def _importer(self):
        own = {key: one for key, one in self.entry.items() if key not in ("side", "language")}
        return importer_from(own)

    def _languages(self) -> tuple[str, str]:
        """Return the text's language for both sides; only one side is read."""
        return (self.entry.get("language", ""),) * 2


@contextmanager
def _opened(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    """Open the unpacked bytes of a file, or of the only member of an archive that matches a pattern."""
    archive = ".zip" if path.suffix == ".zip" else ".tgz"
    text = TextFile(path, member, path.suffix if member is None else archive)
    with damage(text, lambda: ""), open_text(text) as stream:
        yield stream
