"""Index of mtdata 0.5.1: addresses of 291,471 data sets, by mtdata's names.

mtdata itself (Apache 2.0) is not imported: it pins other versions of packages, takes 20 s to build its index, and has
no checksums.  `write_index` wrote that index to `tables/mtdata.tsv.xz`, in a separate environment:

    pip install mtdata==0.5.1 && python weebill/corpus/importers/mtdata_index.py
"""

import lzma
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLES = Path(__file__).with_name("tables")
INDEX = TABLES / "mtdata.tsv.xz"
LANGUAGES = Path(__file__).parents[1] / "iso639.tsv"  # read by language_codes.py
READ = ("txt", "tsv", "tmx")  # formats that the importer can read
OPUS_ZIP = "https://object.pouta.csc.fi/OPUS-{name}/{version}/moses/{first}-{second}.txt.zip"


@dataclass(frozen=True)
class Entry:
    """A data set GROUP-NAME-VERSION-LANGUAGE[-LANGUAGE]: its files and their format.

    urls: one address, or one for each language.  members: patterns of an archive's members.  form: text format.
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
        """ISO 639-3 codes, without script and region, in the order of the sides."""
        return tuple(tag.split("_")[0] for tag in self.name.split("-")[3:])

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


def opus_knows(name: str, version: str, first: str, second: str) -> bool:
    """Return True if OPUS has a corpus for two languages, given in alphabetical order."""
    place = OPUS_ZIP.format(name=name, version=version, first=first, second=second)
    return f"\t{place}\t" in _index()


def opus_corpora(first: str, second: str) -> list[str]:
    """Return NAME/VERSION of every corpus in OPUS for two languages, given in alphabetical order."""
    pattern = rf"/OPUS-([^/\t]+/[^/\t]+)/moses/{first}-{second}\.txt\.zip\t"
    return re.findall(pattern, _index())


def write_index(entries: Iterable) -> None:
    """Write mtdata's entries and language codes to INDEX and LANGUAGES."""
    from mtdata.iso.iso639_1 import ISO693_1_to_3

    rows = sorted("\t".join(_fields(entry)) for entry in entries)
    text = "name\turls\tmembers\tform\tpacked\tcolumns\n" + "\n".join(rows) + "\n"
    INDEX.write_bytes(lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
    codes = (f"{short}\t{long}\n" for short, long in sorted(ISO693_1_to_3.items()))
    LANGUAGES.write_text("".join(codes), encoding="utf-8")


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
