"""Importer `sacrebleu`: published test sets, by their names in sacreBLEU."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weebill.corpus.importers.reading import Controls, Row, Text
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError, nearest
from weebill.experiment.corpora import SIDES, Side, sides_of


@dataclass(frozen=True)
class SacrebleuImporter:
    """A test set by its name in sacreBLEU, such as wmt19; the target is its first reference."""

    name: str

    def local_files(self) -> list[str]:
        """Return none: sacreBLEU itself fetches and stores its test sets."""
        return []

    def sources(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> list[Source]:
        """Return sacreBLEU's files of both sides.  Raises InputError if the set is unknown or cannot be fetched."""
        from sacrebleu import DATASETS, __version__, get_reference_files, get_source_file

        pair = "-".join(languages)
        if self.name not in DATASETS:
            raise InputError(
                f"sacrebleu: no test set '{self.name}'{nearest(self.name, DATASETS)}; "
                "`sacrebleu --list` shows them"
            )
        if pair not in DATASETS[self.name].langpairs:
            known = ", ".join(sorted(DATASETS[self.name].langpairs))
            raise InputError(f"sacrebleu: {self.name} has no {pair}; it has {known}")
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
            for side, file in zip(("source", "target"), files, strict=True)
        ]

    def rows(
        self, languages: tuple[str, str], monolingual: Side | None, places: Places
    ) -> Iterator[Row]:
        """Yield the segments of the test set.  Raises the same errors as `sources`."""
        sources = self.sources(languages, monolingual, places)
        source, target = (Text(places.path(one)) for one in sources)
        # sacreBLEU's files contain the text that it scores, with its tabs.
        for left, right in Controls("replace").pairs(source, target):
            row = {"source": left, "target": right}
            yield tuple(row[side] if side in sides_of(monolingual) else None for side in SIDES)
