"""What an experiment needs beyond its configuration: files that must be there, and room on the disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldcrest.configuration.data import FILE_KEYS, entries, is_url
from goldcrest.configuration.schema import key_path
from goldcrest.configuration.variants import expand_variants
from goldcrest.configuration.zoo import Zoo, load_zoo, members

SYNTHETIC_PAIR_BYTES = 120  # of plain text, both sides
TEST_SET_BYTES = 1_000_000  # a WMT test set, both sides
EXPANSION = {".gz": 3, ".zst": 3, ".xz": 4}  # of compressed text
# Imported and cleaned shards (Parquet, a third of the text each), the 8-best lists and the merged training
# table: together about the size of the plain text, and as much again while a shard is rewritten.
CORPUS_COPIES = 2
# A training in progress keeps weights, smoothed weights and two moments of Adam, in the newest and the best
# checkpoint; a finished model keeps one copy of the weights.
TRAINING_COPIES = 8
BYTES_PER_WEIGHT = {"float32": 4.0, "int8": 1.1, "log4": 0.6}


def missing_files(config: dict[str, Any]) -> list[str]:
    """One line, with its remedy, for every local file that a checked configuration names and that is not there."""
    return [
        f"{key}: no such file or folder: {path}; put it there or change the path"
        for key, path in _local_paths(config)
        if not Path(path).exists()
    ]


def _local_paths(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The key path and the path of every local file or folder that the experiment reads."""
    for entry in entries(config):
        if entry.values["importer"] == "files":
            for key in FILE_KEYS:
                if key in entry.values and not is_url(entry.values[key]):
                    yield key_path((*entry.path, key)), entry.values[key]
    identifier = config["cleaning"].get("language_id", {"model": "synthetic"})["model"]
    if identifier != "synthetic" and not is_url(identifier):
        yield "cleaning.language_id.model", identifier
    if "hugging_face" in config["teacher"]:
        yield "teacher.hugging_face", config["teacher"]["hugging_face"]


def estimate_disk(config: dict[str, Any], zoo: Zoo | None = None) -> int:
    """Bytes that the results of a checked configuration need, roughly and rather too many.

    Counted are the tables of the corpora and the weights of every model with one training in progress for
    each; the sizes of files that are not there, or not here (URLs), are unknown and count as nothing.
    """
    zoo = load_zoo() if zoo is None else zoo
    text = sum(_text_bytes(entry.values) for entry in entries(config))
    weights = 0.0
    if "architecture" in config["teacher"]:
        parts = members(zoo[config["teacher"]["architecture"]])
        several = parts if len(parts) > 1 else parts * config["teacher"]["members"]
        weights += sum(4 * (1 + TRAINING_COPIES) * _weights(part, config) for part in several)
    for student, _, precision in expand_variants(config):
        grid, _, finetuned = precision.partition("-")
        trained = precision == "float32" or finetuned
        stored = BYTES_PER_WEIGHT[grid] + (4 * TRAINING_COPIES if trained else 0)
        weights += stored * _weights(zoo[student], config)
    return int(CORPUS_COPIES * text + weights)


def _text_bytes(entry: dict[str, Any]) -> int:
    """Plain text that an importer entry yields."""
    if entry["importer"] == "synthetic":
        return entry["pairs"] * SYNTHETIC_PAIR_BYTES
    if entry["importer"] == "sacrebleu":
        return TEST_SET_BYTES
    paths = [Path(entry[key]) for key in FILE_KEYS if key in entry and not is_url(entry[key])]
    return sum(
        path.stat().st_size * EXPANSION.get(path.suffix, 1) for path in paths if path.is_file()
    )


def _weights(entry: dict[str, Any], config: dict[str, Any]) -> int:
    """About how many weights a model has: its matrices alone (`describe` counts a built model)."""
    d, a, f = entry["embedding"], entry["attention_width"], entry["feed_forward"]
    pieces = config["vocabulary"].get("size", entry.get("vocabulary"))
    decoder = 1 if entry["decoder_tied"] else entry["decoder_layers"]
    encoder_layer = 4 * d * a + 2 * d * f
    decoder_layer = encoder_layer + (4 * d * a if entry["decoder"] == "attention" else 2 * d * d)
    return pieces * d + entry["encoder_layers"] * encoder_layer + decoder * decoder_layer
