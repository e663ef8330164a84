"""Importer `opus`: corpora of OPUS (Tiedemann 2012) in its plain-text format for Moses, by name and version."""

from collections.abc import Iterator, Mapping
from typing import Any

from weebill.corpus.importers import FromFiles, Languages, Rows, Sources
from weebill.corpus.importers.mtdata_index import OPUS_ZIP, opus_corpora, opus_pairs
from weebill.corpus.importers.reading import Controls, TextFile
from weebill.corpus.language_codes import same_language, spelling
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import nearest
from weebill.experiment.corpora import Entry
from weebill.settings import Sha256, Text, section
from weebill_runtime.names import SIDES, Side

OPUS_TEXT = "https://object.pouta.csc.fi/OPUS-{name}/{version}/mono/{language}.txt.gz"


@section
class OpusImporter(FromFiles):
    """Corpus of [OPUS](https://opus.nlpl.eu) in its plain form for Moses.

    Monolingual text is all text of the corpus in that side's language. OPUS spells some languages differently, such
    as zh_cn for zh or zh-CN: the corpus's own spelling is used, or the nearest one if there are several. For a corpus
    that is not in the index, the codes of `languages` are used, with `_` for `-`.
    """

    by_language = True

    name: Text
    """Name of the corpus, such as `Europarl`."""
    version: Text
    """Version of the corpus, such as `v8`. Names and versions are checked against the index of OPUS in mtdata 0.5.1,
    unless there is a `sha256`."""
    sha256: Sha256 | None = None
    """Checksum of the zip file, or of the monolingual text. In `local_dir` the file has the name that `opus_get`
    gives it: `Europarl_v8_moses_de-en.txt.zip`, `Europarl_v8_mono_en.txt.gz`."""

    @classmethod
    def unpublished(cls, entry: Entry, languages: Languages) -> Iterator[Problem]:
        """Find a corpus that mtdata's index of OPUS lacks.

        Corpora with a checksum are not looked up: their user has seen them, and they may be newer than the index.
        There is no index of monolingual corpora.
        """
        values = entry.values
        if "sha256" not in values and not entry.monolingual:
            for key, message in corpus_faults(values["name"], values["version"], languages):
                yield (*entry.path, key), message

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name the corpus and its version."""
        return {f"'{values['name']} {values['version']}' of OPUS"}

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return the only file, under the name that OpusTools' `opus_get` gives it."""
        corpus = {"name": self.name, "version": self.version}
        if monolingual:
            language = opus_code(self.name, self.version, languages[SIDES.index(monolingual)])
            place = OPUS_TEXT.format(**corpus, language=language)
            file_name = f"{self.name}_{self.version}_mono_{language}.txt.gz"
        else:
            first, second = sorted(opus_codes(self.name, self.version, languages))
            place = OPUS_ZIP.format(**corpus, first=first, second=second)
            file_name = f"{self.name}_{self.version}_moses_{first}-{second}.txt.zip"
        return [Source(place, self.name, self.version, file_name=file_name, sha256=self.sha256)]

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the pairs of the corpus.  A zip contains CORPUS.L1-L2.L1 and CORPUS.L1-L2.L2."""
        path = sources[0].path
        texts = [TextFile(path, None, ".gz")]
        if not monolingual:
            codes = opus_codes(self.name, self.version, languages)
            texts = [TextFile(path, f"*.{code}", ".zip") for code in codes]
        return Controls(self.control_characters).sides(texts, monolingual)


def opus_codes(name: str, version: str, languages: Languages) -> Languages:
    """Return the codes of two languages in a corpus of OPUS, in the same order."""
    pairs = opus_pairs(name, version)
    found = [
        pair
        for pair in (*pairs, *(pair[::-1] for pair in pairs))
        if all(map(same_language, languages, pair))
    ]
    source = spelling(languages[0], (pair[0] for pair in found))
    target = spelling(languages[1], (pair[1] for pair in found if pair[0] == source))
    return (source, target) if source and target else tuple(map(_as_written, languages))


def opus_code(name: str, version: str, language: str) -> str:
    """Return the code of a language in a corpus of OPUS."""
    codes = {code for pair in opus_pairs(name, version) for code in pair}
    return spelling(language, codes) or _as_written(language)


def _as_written(code: str) -> str:
    return code.replace("-", "_")


def corpus_faults(name: str, version: str, languages: Languages) -> Iterator[tuple[str, str]]:
    """Yield the error in a corpus' `name` or `version` as (key, message), unless mtdata's index has the corpus."""
    first, second = sorted(languages)
    pair = tuple(sorted(opus_codes(name, version, languages)))
    if pair in opus_pairs(name, version):
        return
    known = [corpus.split("/") for corpus in opus_corpora(first, second)]
    if versions := [other for corpus, other in known if corpus == name]:
        expected = f"one of {', '.join(versions)}, the versions of {name} in OPUS"
        yield "version", f"found '{version}', expected {expected}"
    else:
        near = nearest(name, {corpus for corpus, _ in known})
        yield "name", f"no corpus '{name}' for {first}-{second} in OPUS{near}"
