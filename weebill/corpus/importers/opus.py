"""Importer `opus`: corpora of OPUS (Tiedemann 2012) in its plain-text format for Moses, by name and version."""

from collections.abc import Iterator
from dataclasses import dataclass

from weebill.corpus.importers.mtdata_index import OPUS_ZIP, opus_corpora, opus_knows
from weebill.corpus.importers.reading import Controls, Row, Text, one_sided
from weebill.corpus.sources import Places, Source
from weebill.errors import nearest
from weebill.experiment.corpora import SIDES, Side

OPUS_TEXT = "https://object.pouta.csc.fi/OPUS-{name}/{version}/mono/{language}.txt.gz"


@dataclass(frozen=True)
class OpusImporter:
    """A corpus such as Europarl v8, or, if monolingual, all text of one language in that corpus.

    A zip of OPUS contains CORPUS.L1-L2.L1 and CORPUS.L1-L2.L2, with the languages in alphabetical order.
    sha256: checksum of the zip, or of the monolingual text.
    """

    name: str
    version: str
    sha256: str | None = None
    control_characters: str = "error"

    def __post_init__(self) -> None:
        Controls(self.control_characters)

    def local_files(self) -> list[str]:
        """Return none: the corpus is fetched."""
        return []

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return the only file; its name is the one that `opus_get` of OpusTools gives it."""
        corpus = {"name": self.name, "version": self.version}
        if monolingual:
            language = languages[SIDES.index(monolingual)]
            place = OPUS_TEXT.format(**corpus, language=language)
            file_name = f"{self.name}_{self.version}_mono_{language}.txt.gz"
        else:
            first, second = sorted(languages)
            place = OPUS_ZIP.format(**corpus, first=first, second=second)
            file_name = f"{self.name}_{self.version}_moses_{first}-{second}.txt.zip"
        return [Source(place, self.name, self.version, file_name=file_name, sha256=self.sha256)]

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        """Yield the pairs of the corpus, in order.  Raises the same errors as the importer `files`."""
        [source] = self.sources(languages, monolingual, places)
        path = places.path(source)
        controls = Controls(self.control_characters)
        if monolingual:
            yield from one_sided(controls.lines(Text(path, None, ".gz")), monolingual)
        else:
            yield from controls.pairs(*(Text(path, f"*.{code}", ".zip") for code in languages))


def corpus_faults(name: str, version: str, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the error in a corpus' `name` or `version` as (key, message).

    Yields none if OPUS had the corpus at the time of mtdata's index.
    """
    first, second = sorted(languages)
    if opus_knows(name, version, first, second):
        return
    known = [corpus.split("/") for corpus in opus_corpora(first, second)]
    if versions := [other for corpus, other in known if corpus == name]:
        expected = f"one of {', '.join(versions)}, the versions of {name} in OPUS"
        yield "version", f"found '{version}', expected {expected}"
    else:
        near = nearest(name, {corpus for corpus, _ in known})
        yield "name", f"no corpus '{name}' for {first}-{second} in OPUS{near}"
