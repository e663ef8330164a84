"""Index of mtdata 0.5.1: addresses of 291,471 data sets, by mtdata's names.

mtdata itself (Apache 2.0) is not imported: it pins other versions of packages, takes 20 s to build its index, and has
no checksums.  `write_index` wrote its index to `tables/mtdata.tsv.xz`, in a separate environment:

    pip install mtdata==0.5.1 && python weebill/corpus/importers/mtdata_index.py
"""

import lzma
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weebill.corpus.language_codes import same_language

TABLES = Path(__file__).with_name("tables")
INDEX = TABLES / "mtdata.tsv.xz"
READ = ("txt", "tsv", "tmx")  # formats that the importer can read
OPUS_ZIP = "https://object.pouta.csc.fi/OPUS-{name}/{version}/moses/{first}-{second}.txt.zip"


@dataclass(frozen=True)
class Entry:
    """A data set GROUP-NAME-VERSION-LANGUAGE[-LANGUAGE]: its files and their format.

    urls: one address, or one for each language.  members: name patterns of an archive's members.  form: text format.
    packed: ".zip", ".tgz", ".gz", ".xz", ".bz2" or "".
    columns: column numbers of a table, from 0, in the order of the languages.
    """

    name: str
    urls: tuple[str, ...]
    members: tuple[str, ...]
    form: str
    packed: str
    columns: tuple[int, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-3 codes, some with a script or region (zho_Hant, por_BR), in the order of the sides."""
        return tuple(self.name.split("-")[3:])

    @property
    def version(self) -> str:
        """Version of the data set, such as 7.1."""
        return self.name.split("-")[2]


@cache
def _index() -> str:
    return lzma.decompress(INDEX.read_bytes()).decode("utf-8")


@cache
def find_entry(name: str) -> Entry | None:
    """Return the data set of this name; None if there is none."""
    text = _index()
    start = text.find(f"\n{name}\t")
    if start < 0:
        return None
    line = text[start + 1 : text.index("\n", start + 1)]
    name, urls, members, form, packed, columns = line.split("\t")
    numbers = tuple(int(column) for column in columns.split(",") if column)
    patterns = tuple(members.split("|")) if members else ()
    return Entry(name, tuple(urls.split(" ")), patterns, form, packed, numbers)


def similar_names(name: str) -> list[str]:
    """Return candidates for a misspelt name: data sets with the same languages, or of the same group."""
    head, _, tail = name.partition("-")
    languages = re.escape("-".join(tail.split("-")[-2:]))
    patterns = [rf"\n([^\t\n]*-{languages})\t", rf"\n({re.escape(head)}-[^\t\n]*)\t"]
    found = [match for pattern in patterns for match in re.findall(pattern, _index())]
    return found[:20_000]  # more would take seconds to compare


@cache
def opus_pairs(name: str, version: str) -> list[tuple[str, str]]:
    """Return the language pairs of a corpus in OPUS, by its own codes, in alphabetical order."""
    head, tail = OPUS_ZIP.split("{first}-{second}")
    place = re.escape(head.format(name=name, version=version))
    return re.findall(rf"\t{place}([^-\t]+)-([^\t]+){re.escape(tail)}\t", _index())


@cache
def opus_corpora(first: str, second: str) -> list[str]:
    """Return NAME/VERSION of every corpus in OPUS for two languages."""
    pattern = r"/OPUS-([^/\t]+/[^/\t]+)/moses/([^-\t]+)-([^\t]+)\.txt\.zip\t"
    wanted = (first, second), (second, first)
    found = {}
    for corpus, *pair in re.findall(pattern, _index()):
        if any(all(map(same_language, codes, pair)) for codes in wanted):
            found[corpus] = None
    return list(found)


def write_index(entries: Iterable) -> None:
    """Write mtdata's entries to INDEX."""
    rows = sorted("\t".join(_fields(entry)) for entry in entries)
    text = "name\turls\tmembers\tform\tpacked\tcolumns\n" + "\n".join(rows) + "\n"
    INDEX.write_bytes(lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))


def _fields(entry) -> list[str]:
    urls = [entry.url] if isinstance(entry.url, str) else entry.url
    packed = re.search(r"(zip|tgz|tar\.gz|gz|xz|bz2)$", entry.ext)
    suffix = f".{packed[0]}".replace(".tar.gz", ".tgz") if packed else ""
    form = entry.in_ext or entry.ext.split(".")[0]
    columns = ",".join(map(str, entry.cols or ()))
    return [str(entry.did), " ".join(urls), "|".join(entry.in_paths or ()), form, suffix, columns]


if __name__ == "__main__":
    from mtdata.index import INDEX as theirs

    write_index(theirs.get_entries())
