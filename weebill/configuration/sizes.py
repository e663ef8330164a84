"""Sizes of an experiment's inputs: text of its corpora, weights of its models."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from weebill.corpus.download import is_url
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.corpus.tatoeba import PAIR_BYTES
from weebill.errors import key_path
from weebill.experiment.corpora import FILE_KEYS, SECTIONS, Entry, Side, entries, sides_of

SIDE_BYTES = 130  # a sentence of the news and the web, if only the number of rows is known
TEST_SET_ROWS = 3000  # a WMT test set
EXPANSION = {".gz": 3, ".zst": 3}  # plain text relative to its compressed file
COLUMNS_EXPANSION = 3  # plain text relative to a data set in Parquet


class CorpusSize(NamedTuple):
    """Approximate amount of text in an importer entry: rows and bytes of plain text, None if unknown.

    key: its key path.  name: last part of the key path.  fetched: True if the text is downloaded.
    """

    key: str
    name: str
    rows: float | None
    text: float | None
    monolingual: Side | None
    fetched: bool

    @property
    def source(self) -> float:
        """Bytes of the translated side, or of each of two sides; 0 if unknown."""
        return (self.text or 0) / (1 if self.monolingual else 2)


def corpus_sizes(config: dict[str, Any], sections: Iterable[str] = SECTIONS) -> list[CorpusSize]:
    """Return the size of every importer entry in these sections of a checked configuration, in the keys' order."""
    return [_size(entry) for entry in entries(config, sections)]


def _size(entry: Entry) -> CorpusSize:
    values, sides = entry.values, len(sides_of(entry.monolingual))
    files = [
        Path(values[k]) for k in (*FILE_KEYS, "folder") if not is_url(values.get(k, "https://"))
    ]
    if values["importer"] == EMBEDDED:
        rows, text = values["pairs"], values["pairs"] * PAIR_BYTES * sides / 2
    else:
        rows = TEST_SET_ROWS if values["importer"] == "sacrebleu" else values.get("rows")
        text = _text_here(values, files)
        if text is None and rows is not None:
            text = rows * SIDE_BYTES * sides
        elif text is not None and rows is None:
            rows = text / (SIDE_BYTES * sides)
    fetched = values["importer"] != EMBEDDED and not files
    key, name = key_path(entry.path), str(entry.path[-1])
    return CorpusSize(key, name, rows, text, entry.monolingual, fetched)


def _text_here(values: dict[str, Any], files: list[Path]) -> float | None:
    """Return the bytes of plain text in the files, or the folder, of an entry; None if one of them is missing."""
    if not files or not all(path.exists() for path in files):
        return None
    if "folder" in values:
        inside = (path for path in files[0].rglob("*") if path.is_file())
        return COLUMNS_EXPANSION * sum(path.stat().st_size for path in inside)
    return sum(path.stat().st_size * EXPANSION.get(path.suffix, 1) for path in files)


def total_bytes(paths: Iterable[str | Path]) -> int:
    """Return the bytes of files, and of the files in folders; missing ones count as 0."""
    found = [Path(path) for path in paths]
    inside = [entry for path in found if path.is_dir() for entry in path.iterdir()]
    return sum(path.stat().st_size for path in [*found, *inside] if path.is_file())


class Weights(NamedTuple):
    """Approximate numbers of weights in the matrices of a model; `describe` counts those of a built model.

    Tied layers count each time in `decoder`, and once in `decoder_stored`.  The embedding is also the output layer.
    """

    encoder: int
    decoder: int
    embedding: int
    decoder_stored: int

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
