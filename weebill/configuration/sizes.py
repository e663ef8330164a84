"""Sizes of an experiment's inputs: text of its corpora, weights of its models."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weebill.corpus.download import is_url
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.corpus.tatoeba import PAIR_BYTES
from weebill.errors import key_path
from weebill.experiment.corpora import FILE_KEYS, SECTIONS, Entry, Side, entries

SIDE_BYTES = 130  # a sentence of the news and the web, if only the number of rows is known
TEST_SET_ROWS = 3000  # a WMT test set
EXPANSION = {".gz": 3, ".zst": 3}  # plain text relative to its compressed file
COLUMNS_EXPANSION = 3  # plain text relative to a data set in Parquet


@dataclass(frozen=True)
class CorpusSize:
    """Approximate amount of text in an importer entry: rows and bytes of plain text, None if unknown."""

    key: str  # key path in the configuration
    name: str  # last part of the key path
    rows: float | None
    text: float | None
    monolingual: Side | None
    fetched: bool  # True if the text is downloaded

    @property
    def source(self) -> float:
        """Bytes of the translated side, or of each of two sides; 0 if unknown."""
        return (self.text or 0) / (1 if self.monolingual else 2)


def corpus_sizes(config: dict[str, Any], sections: Iterable[str] = SECTIONS) -> list[CorpusSize]:
    """Return the size of every importer entry in these sections of a checked configuration, in the keys' order."""
    return [_size(entry) for entry in entries(config, sections)]


def _size(entry: Entry) -> CorpusSize:
    values = entry.values
    row_bytes = SIDE_BYTES * (1 if entry.monolingual else 2)
    if values["importer"] == EMBEDDED:
        rows, text = values["pairs"], values["pairs"] * PAIR_BYTES
        if entry.monolingual:
            text /= 2
    else:
        rows = TEST_SET_ROWS if values["importer"] == "sacrebleu" else values.get("rows")
        text = _text_here(values)
        if text is None:
            text = None if rows is None else rows * row_bytes
        elif rows is None:
            rows = text / row_bytes
    return CorpusSize(
        key_path(entry.path),
        str(entry.path[-1]),
        rows,
        text,
        entry.monolingual,
        fetched=values["importer"] != EMBEDDED and not list(_files(values)),
    )


def _text_here(values: dict[str, Any]) -> float | None:
    """Return the bytes of plain text in the files of an entry; None if one of them is missing."""
    paths = list(_files(values))
    if not paths or not all(path.exists() for path in paths):
        return None
    if "folder" in values:
        files = (path for path in paths[0].rglob("*") if path.is_file())
        return COLUMNS_EXPANSION * sum(path.stat().st_size for path in files)
    return sum(path.stat().st_size * EXPANSION.get(path.suffix, 1) for path in paths)


def _files(values: dict[str, Any]) -> Iterator[Path]:
    """Yield the user's own files and folder of an entry."""
    for key in (*FILE_KEYS, "folder"):
        if key in values and not is_url(values[key]):
            yield Path(values[key])


def total_bytes(paths: Iterable[str | Path]) -> int:
    """Return the bytes of files, and of the files in folders; missing ones count as 0."""
    found = [Path(path) for path in paths]
    inside = [entry for path in found if path.is_dir() for entry in path.iterdir()]
    return sum(path.stat().st_size for path in [*found, *inside] if path.is_file())


@dataclass(frozen=True)
class Weights:
    """Approximate numbers of weights in the matrices of a model; `describe` counts those of a built model."""

    encoder: int
    decoder: int  # all layers; tied ones count each time
    embedding: int  # also serves as the output layer
    decoder_stored: int  # tied layers count once

    @property
    def stored(self) -> int:
        """Number of weights in memory and on disk."""
        return self.embedding + self.encoder + self.decoder_stored


def weights(entry: dict[str, Any], config: dict[str, Any]) -> Weights:
    """Return the weights of one zoo model, not an ensemble, with the vocabulary of a checked configuration."""
    d, a, f = entry["embedding"], entry["attention_width"], entry["feed_forward"]
    pieces = config["vocabulary"].get("size", entry.get("vocabulary"))
    encoder_layer = 4 * d * a + 2 * d * f
    decoder_layer = encoder_layer + (4 * d * a if entry["decoder"] == "attention" else 2 * d * d)
    layers = entry["decoder_layers"]
    return Weights(
        encoder=entry["encoder_layers"] * encoder_layer,
        decoder=layers * decoder_layer,
        embedding=pieces * d,
        decoder_stored=(1 if entry["decoder_tied"] else layers) * decoder_layer,
    )
