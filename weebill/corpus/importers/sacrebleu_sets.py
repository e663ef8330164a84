"""Importer `sacrebleu`: published test sets, by their names in sacreBLEU."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from weebill.corpus.importers import Importer, Languages, Rows, Sources
from weebill.corpus.importers.reading import Controls, TextFile
from weebill.corpus.language_codes import spelling
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import Entry, sides_of
from weebill.settings import Text, section
from weebill.text_files import read_lines
from weebill_runtime.languages import primary
from weebill_runtime.names import SIDES, Side

ORIGIN = "origlang"  # sacreBLEU's field of the language in which a segment was first written


@section
class SacrebleuImporter(Importer):
    """Published test set, which sacreBLEU downloads."""

    by_language = True

    name: Text
    """Name of the test set in sacreBLEU, such as `wmt19`; `wmt21/C` is `wmt21` with another reference."""
    written_in: Side | None = None
    """Keep only the segments that were first written in the language of this side, `source` or `target`; the others
    are translations. By default all are kept."""

    @classmethod
    def unpublished(cls, entry: Entry, languages: Languages) -> Iterator[Problem]:
        """Find a test set that sacreBLEU lacks."""
        from sacrebleu import DATASETS  # takes a moment to load

        name, place = entry.values["name"], (*entry.path, "name")
        if name not in DATASETS:
            yield place, f"no test set '{name}' in sacreBLEU{nearest(name, DATASETS)}"
        elif langpair(DATASETS[name].langpairs, languages) is None:
            wanted = "-".join(languages)
            known = f"{name} has {', '.join(sorted(DATASETS[name].langpairs))}"
            yield place, f"found '{name}', which has no {wanted}, expected one with it ({known})"

    @classmethod
    def origins(cls, values: Mapping[str, Any]) -> set[str]:
        """Name the test set."""
        return {f"test set '{values['name']}'"}

    def sources(self, languages: Languages, monolingual: Side | None, places: Places) -> Sources:
        """Return sacreBLEU's files of both sides; the target is its first reference by name.

        With `written_in`, a third file contains the language in which each segment was first written.
        Raises InputError if the set is unknown, cannot be fetched, or does not know these languages.
        """
        from sacrebleu import DATASETS, __version__, get_reference_files, get_source_file

        if self.name not in DATASETS:
            raise InputError(
                f"sacrebleu: no test set '{self.name}'{nearest(self.name, DATASETS)}; "
                "`sacrebleu --list` shows them"
            )
        pair = langpair(DATASETS[self.name].langpairs, languages)
        if pair is None:
            known = ", ".join(sorted(DATASETS[self.name].langpairs))
            raise InputError(f"sacrebleu: {self.name} has no {'-'.join(languages)}; it has {known}")
        try:
            files = {"source": get_source_file(self.name, pair)}
            # sacreBLEU's own order of the references A and C of wmt21/AC differs between processes.
            files["target"] = min(get_reference_files(self.name, pair))
            if self.written_in is not None:
                files[ORIGIN] = self._languages_file(DATASETS[self.name], pair)
        except (OSError, EOFError, SystemExit) as error:
            raise InputError(
                f"sacrebleu: cannot fetch {self.name} {pair} ({error}); connect to the network once, "
                "or point SACREBLEU at a folder that holds it"
            ) from error
        return [
            # The place is not the path, which differs between machines.
            Source(f"sacrebleu {self.name} {pair} {side}", self.name, __version__, path=Path(file))
            for side, file in files.items()
        ]

    def original_languages(self, languages: Languages, places: Places) -> list[str]:
        """Return the language in which each segment was first written, in the order of `rows`; "" if unknown.

        Raises the InputErrors of `sources`, also if the test set does not record them.
        """
        [*_, origins] = replace(self, written_in="source").sources(languages, None, places)
        return [primary(line) if line else "" for line in read_lines(origins.path)]

    def _languages_file(self, dataset: Any, pair: str) -> str:
        fields = list(dataset.fieldnames(pair))
        if ORIGIN not in fields:
            raise InputError(
                f"sacrebleu: {self.name} does not know in which language its segments were first written; leave out "
                "`written_in`"
            )
        return dataset.get_files(pair)[fields.index(ORIGIN)]

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the segments of the test set, or one side of them.

        Raises InputError if `written_in` leaves no segment.
        """
        # sacreBLEU's files contain the text that it scores, with its tabs.
        pairs = Controls("replace").pairs(*(TextFile(source.path) for source in sources[:2]))
        if self.written_in is not None:
            pairs = self._first_written(pairs, sources[2], languages)
        wanted = sides_of(monolingual)
        for pair in pairs:
            yield tuple(t if side in wanted else None for side, t in zip(SIDES, pair, strict=True))

    def _first_written(self, pairs: Rows, origins: Source, languages: Languages) -> Rows:
        """Yield the pairs that were first written in the language of the side `written_in`."""
        wanted, kept = primary(languages[SIDES.index(self.written_in)]), 0
        for pair, language in zip(pairs, read_lines(origins.path), strict=True):
            if language and primary(language) == wanted:
                kept += 1
                yield pair
        if not kept:
            raise InputError(
                f"sacrebleu: no segment of {self.name} was first written in {wanted}; leave out `written_in`"
            )


def langpair(known: Iterable[str], languages: Languages) -> str | None:
    """Return sacreBLEU's pair of two languages, such as en-zh for en and zh-CN; None if it is not among the known."""
    pairs = [tuple(pair.split("-", 1)) for pair in known]
    source = spelling(languages[0], (pair[0] for pair in pairs))
    target = spelling(languages[1], (pair[1] for pair in pairs if pair[0] == source))
    return f"{source}-{target}" if source and target else None
