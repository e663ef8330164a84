"""What an experiment needs beyond its configuration: files that must be there, room on the disk, memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from goldcrest.configuration.data import FILE_KEYS, entries
from goldcrest.configuration.precisions import grid_of
from goldcrest.configuration.schema import key_path
from goldcrest.configuration.scores import STAGES
from goldcrest.configuration.variants import expand_variants
from goldcrest.configuration.zoo import Zoo, load_zoo, members
from goldcrest.corpus.download import is_url

SYNTHETIC_PAIR_BYTES = 120  # of plain text, both sides
TEST_SET_BYTES = 1_000_000  # a WMT test set, both sides
EXPANSION = {".gz": 3, ".zst": 3}  # of compressed text
COLUMNS_EXPANSION = 3  # of a data set in Parquet
# Imported and cleaned shards (Parquet, a third of the text each), the 8-best lists and the merged training
# table: together about the size of the plain text, and as much again while a shard is rewritten.
CORPUS_COPIES = 2
# A training in progress keeps weights, smoothed weights and two moments of Adam, in the newest and the best
# checkpoint; a finished model keeps one copy of the weights.
TRAINING_COPIES = 8
# A network in training holds weights, gradients, two moments of Adam and smoothed weights; what is written to a
# checkpoint, and the weights before and during a validation, are copies.
MEMORY_COPIES = 9
PROCESS_MIB = 1000  # Python with PyTorch and Lightning; measured: 740 with a small network
# Values of the embedding's width that a layer keeps for the backward pass, for each piece.
ACTIVATIONS = 16
VOCABULARY_MIB = 12_000  # SentencePiece on its largest sample
ALIGNED_PAIR_BYTES = 3000  # measured: 700 a direction for pairs of twice 15 pieces
LANGUAGE_MODEL_EXPANSION = 40  # of compressed text; measured: 1.9 MB of plain text make 18 MB
MIB = 2**20
ENCODED_SHARE = 3  # of an encoded corpus and its shuffled order to the Parquet table it was made of
BYTES_PER_WEIGHT = {"float32": 4.0, "int8": 1.1, "int8_rowwise": 1.2, "log4": 0.6}


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
        for key in (*FILE_KEYS, "folder", "local_dir"):
            if key in entry.values and not is_url(entry.values[key]):
                yield key_path((*entry.path, key)), entry.values[key]
    if "local_dir" in config:
        yield "local_dir", config["local_dir"]
    identifier = config["cleaning"].get("language_id", {"model": "synthetic"})["model"]
    if identifier != "synthetic" and not is_url(identifier):
        yield "cleaning.language_id.model", identifier
    for model in ("language_model", "lexical_translation"):
        for key in ("source_text", "target_text"):
            for index, path in enumerate(config["scoring"].get(model, {}).get(key, [])):
                yield f"scoring.{model}.{key}[{index}]", path
    if "hugging_face" in config["scoring"].get("reverse_model", {}):
        yield (
            "scoring.reverse_model.hugging_face",
            config["scoring"]["reverse_model"]["hugging_face"],
        )
    if "labelled" in config["evaluation"]:
        yield "evaluation.labelled.table", config["evaluation"]["labelled"]["table"]
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
    if "architecture" in config["scoring"].get("reverse_model", {}):
        entry = zoo[config["scoring"]["reverse_model"]["architecture"]]
        weights += 4 * (1 + TRAINING_COPIES) * _weights(entry, config)
    for student, _, precision in expand_variants(config):
        trained = precision == "float32" or precision.endswith("-finetuned")
        stored = BYTES_PER_WEIGHT[grid_of(precision)] + (4 * TRAINING_COPIES if trained else 0)
        weights += stored * _weights(zoo[student], config)
    # Scored text is stored once more with its scores, and distilled text before it is selected too.
    copies = CORPUS_COPIES + sum(bool(config[stage]["scores"]) for stage in STAGES)
    return int(copies * text + weights)


def training_memory(
    config: dict[str, Any], model: str, batch_tokens: int, tables: Iterable[str], zoo: Zoo
) -> int:
    """MiB of main memory that training a model of the zoo needs on one machine, roughly and rather too much.

    Each device has a process of its own.  Activations of a batch count where the CPU computes them.  A table
    that is not there yet counts as nothing.
    """
    hardware, parts = config["hardware"], members(zoo[model])
    entry = {**parts[0], "decoder_layers": max(part["decoder_layers"] for part in parts)}
    network = 4 * MEMORY_COPIES * _weights(entry, config)
    if hardware["accelerator"] == "cpu":
        layers = entry["encoder_layers"] + entry["decoder_layers"]
        width = ACTIVATIONS * max(entry["embedding"], entry["attention_width"])
        network += 4 * batch_tokens * layers * (width + 3 * entry["feed_forward"])
    text = ENCODED_SHARE * _total_bytes(tables)
    return int(hardware["devices"] * (PROCESS_MIB + network / MIB) + text / MIB)


def search_memory(models: Iterable[str]) -> int:
    """MiB of main memory that translating with model folders needs: weights as stored, read, and laid out anew."""
    return int(2 * PROCESS_MIB + 3 * _total_bytes(models) / MIB)


def vocabulary_memory(tables: Iterable[str]) -> int:
    """MiB of main memory that training a vocabulary needs; it reads a sample of bounded size."""
    return int(PROCESS_MIB + min(VOCABULARY_MIB, 30 * _total_bytes(tables) / MIB))


def language_model_memory(sorting: int, texts: Iterable[str]) -> int:
    """MiB of main memory that estimating a language model needs: sorting, then the model as it is packed."""
    return int(PROCESS_MIB + max(sorting, LANGUAGE_MODEL_EXPANSION * _total_bytes(texts) / MIB))


def scoring_memory(models: Iterable[str]) -> int:
    """MiB of main memory that scoring by language models needs."""
    return int(PROCESS_MIB + _total_bytes(models) / MIB)


def alignment_memory(pairs: int) -> int:
    """MiB of main memory that aligning so many sentence pairs needs, both directions at once."""
    return int(PROCESS_MIB + pairs * ALIGNED_PAIR_BYTES / MIB)


def _total_bytes(paths: Iterable[str]) -> int:
    """Bytes of files, and of the files of folders; 0 for what is not there."""
    found = [Path(path) for path in paths]
    inside = [entry for path in found if path.is_dir() for entry in path.iterdir()]
    return sum(path.stat().st_size for path in [*found, *inside] if path.is_file())


def _text_bytes(entry: dict[str, Any]) -> int:
    """Plain text that an importer entry yields."""
    if entry["importer"] == "synthetic":
        return entry["pairs"] * SYNTHETIC_PAIR_BYTES
    if entry["importer"] == "sacrebleu":
        return TEST_SET_BYTES
    if "folder" in entry:
        files = [path for path in Path(entry["folder"]).rglob("*") if path.is_file()]
        return COLUMNS_EXPANSION * sum(path.stat().st_size for path in files)
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
