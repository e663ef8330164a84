"""Descriptions of the stand-ins that a miniature reads instead of the experiment's files and models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from weebill.experiment.origins import PREFIX, is_made, name_of
from weebill.rehearsal.sentences import pairs
from weebill.text_files import COMPRESSED
from weebill_runtime.names import SIDES

ADDRESS = "https://rehearsal.invalid"  # of files that the workflow "fetches" from `local_dir`
CHECKSUM_OF = "checksum of "  # a checksum that is known when the file has been made
COMMON = 10_000  # first embedded pair of stand-in text; experiments' own embedded text has those before it

Use = Literal["encoder", "checkpoint", "translator", "generator", "identifier"]


@dataclass(frozen=True)
class Model:
    """Small model with random weights.

    family: class of the original, such as `bart`, `marian` or `XLM-RoBERTa`.  layers, heads: those of the original.
    languages: of the text that its tokenizer is trained on.  positions: least length of a text.
    encoder: folder of a checkpoint's encoder.
    """

    use: Use
    family: str = ""
    layers: int = 1
    heads: int = 1
    languages: tuple[str, ...] = ("en", "de")
    positions: int = 128
    encoder: str | None = None


@dataclass
class StandIns:
    """Files and models of a miniature, all below `folder`, and the origins that name some of them."""

    experiment: str
    folder: Path
    files: dict[Path, str] = field(default_factory=dict)
    tables: dict[Path, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    models: dict[Path, Model] = field(default_factory=dict)
    origins: dict[str, dict[str, Any]] = field(default_factory=dict)
    drawn: int = COMMON

    def pairs(self, languages: tuple[str, str], count: int) -> list[tuple[str, str]]:
        """Return further pairs of sentences, which no earlier call has returned."""
        self.drawn += count
        return pairs(languages, self.drawn - count, count)

    def sides(self, languages: tuple[str, str], count: int) -> dict[str, list[str]]:
        """Return the two sides of further pairs, `source` and `target`."""
        found = self.pairs(languages, count)
        return {side: [pair[number] for pair in found] for number, side in enumerate(SIDES)}

    def sentences(self, language: str, count: int) -> list[str]:
        """Return further sentences of a language."""
        return [one for one, _ in self.pairs((language, language), count)]

    def file(self, original: str, lines: Sequence[str]) -> str:
        """Add a text file in place of an original one; return its place in the miniature's configuration.

        The place of a public text stays that of a public text, so that the workflow makes it.
        """
        text = "".join(f"{line}\n" for line in lines)
        path = self._path(original)
        self.files[path] = text
        return self._named(original, path)

    def table(self, original: str, columns: Mapping[str, Sequence[Any]]) -> str:
        """Add a Parquet table in place of an original one; return its place."""
        path = self._path(original).with_suffix(".parquet")
        self.tables[path] = columns
        return str(path)

    def model(self, original: str, model: Model) -> str:
        """Add a model's folder or file in place of an original one; return its place."""
        path = self._path(original)
        self.models[path] = model
        return self._named(original, path)

    def hub_model(self, name: str, model: Model) -> None:
        """Put a model where the workflow finds one of the hub, in `local_dir`."""
        self.models[self.local_dir / name] = model

    def address(self, name: str, model: Model) -> dict[str, str]:
        """Add a model's file in `local_dir`, where the workflow finds it; return its address and checksum."""
        self.models[self.local_dir / name] = model
        return {"model": f"{ADDRESS}/{name}", "sha256": CHECKSUM_OF + str(self.local_dir / name)}

    @property
    def local_dir(self) -> Path:
        """Folder of the files that the workflow would fetch."""
        return self.folder / "fetched"

    def _path(self, original: str) -> Path:
        if is_made(original):
            return self.local_dir / self._name(original)
        parts = [part for part in PurePosixPath(original).parts if part not in ("/", "..", ".")]
        path = self.folder.joinpath("files", *parts)
        return path.with_suffix("") if path.suffix in COMPRESSED else path

    def _named(self, original: str, path: Path) -> str:
        if not is_made(original):
            return str(path)
        name = self._name(original)
        checksum = CHECKSUM_OF + str(path)
        self.origins[name] = {
            "importer": "address",
            "url": f"{ADDRESS}/{name}",
            "sha256": checksum,
        }
        return PREFIX + name

    def _name(self, original: str) -> str:
        name = name_of(original).replace("/", ".")
        for suffix in COMPRESSED:
            name = name.removesuffix(suffix)
        return f"{self.experiment}.{name}"
