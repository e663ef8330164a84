"""Settings of every kind of experiment for the origins of its files."""

from dataclasses import field
from typing import Annotated, Any, Literal

from weebill.corpus.importers import FromFiles, Importer
from weebill.corpus.importers.entries import IMPORTERS
from weebill.settings import Chosen, Language, Place, Sha256, Text, TextName, made_section, section


@section
class Address:
    """File at an address, which is only unpacked."""

    url: Text
    """Address of the file: plain text, `.gz`, `.zst`, `.xz`, `.bz2`, or an archive."""
    sha256: Sha256
    """Checksum of the file."""
    member: Text | None = None
    """Pattern that only one file of the archive (`.zip`, `.tar.gz`) matches, such as `*/train.en`."""


@section
class OneSide:
    """Keys of one side of a corpus."""

    side: Literal["source", "target"] = "source"
    """Side of the corpus that is the text."""
    language: Language | None = None
    """Language of the text, for importers that choose files by it."""


def _one_side(importer: type[Importer]) -> type:
    """Make a class with the keys of an importer and the keys for one side of its corpus."""
    name = importer.__name__.replace("Importer", "Side")
    return made_section(name, importer.__doc__, bases=(importer, OneSide))


# Importers of files only; importers of test sets and of the embedded pairs need both languages.
_SIDES = {k: _one_side(v) for k, v in IMPORTERS.items() if issubclass(v, FromFiles)}
TextOrigin = Annotated[Any, Chosen("importer", {"address": Address, **_SIDES})]


@section
class Fetched:
    """Keys of every kind of experiment."""

    local_dir: Place | None = None
    """Folder that is searched for every file before its download, for machines without a network. Each importer
    documents the names of its files. The file of an address is named by the last part of the address, and a model or
    data set of the hub is a subfolder with its name."""
    download_cache: Place | None = None
    """Folder of downloaded files, which experiments share; by default `downloads` in `$WEEBILL_CACHE` or else in
    `~/.cache/weebill`."""
    mirror: Place | None = None
    """Folder of files named by their SHA-256, which is searched before the network; by default `$WEEBILL_MIRROR`, if
    it is set. `weebill fetch CONFIG --mirror FOLDER` fills it."""
    origins: dict[TextName, TextOrigin] = field(default_factory=dict)
    """Names of further texts, for `origin:NAME`: a file at an address, or one side of a corpus."""
