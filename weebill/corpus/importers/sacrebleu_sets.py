"""Importer `sacrebleu`: published test sets, by their names in sacreBLEU."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from weebill.corpus.importers import Importer, Languages, Rows, Sources
from weebill.corpus.importers.reading import Controls, TextFile
from weebill.corpus.language_codes import spelling
from weebill.corpus.sources import Places, Problem, Source
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import Entry, sides_of
from weebill.settings import Text, section
from weebill_runtime.names import SIDES, Side


@section
class SacrebleuImporter(Importer):
    """Published test set, which sacreBLEU downloads."""

    name: Text
    """Name of the test set in sacreBLEU, such as `wmt19`."""

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
        """Return sacreBLEU's files of both sides; the target is its first reference.

        Raises InputError if the set is unknown or cannot be fetched.
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
            files = [get_source_file(self.name, pair), get_reference_files(self.name, pair)[0]]
        except (OSError, EOFError, SystemExit) as error:
            raise InputError(
                f"sacrebleu: cannot fetch {self.name} {pair} ({error}); connect to the network once, "
                "or point SACREBLEU at a folder that holds it"
            ) from error
        return [
            # The place is not the path, which differs between machines.
            Source(f"sacrebleu {self.name} {pair} {side}", self.name, __version__, path=Path(file))
            for side, file in zip(SIDES, files, strict=True)
        ]

    def rows(self, sources: Sources, languages: Languages, monolingual: Side | None) -> Rows:
        """Yield the segments of the test set, or one side of them."""
        # sacreBLEU's files contain the text that it scores, with its tabs.
        pairs = Controls("replace").pairs(*(TextFile(source.path) for source in sources))
        wanted = sides_of(monolingual)
        for pair in pairs:
            yield tuple(t if side in wanted else None for side, t in zip(SIDES, pair, strict=True))


def langpair(known: Iterable[str], languages: Languages) -> str | None:
    """Return sacreBLEU's pair of two languages, such as en-zh for en and zh-CN; None if it is not among the known."""
    pairs = [tuple(pair.split("-", 1)) for pair in known]
    source = spelling(languages[0], (pair[0] for pair in pairs))
    target = spelling(languages[1], (pair[1] for pair in pairs if pair[0] == source))
    return f"{source}-{target}" if source and target else None
