"""Requirements of an experiment beyond its configuration: local files and memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from weebill.configuration.sizes import total_bytes, weights
from weebill.corpus.download import is_url
from weebill.corpus.tatoeba import NAME as EMBEDDED
from weebill.errors import InputError, key_path
from weebill.experiment.corpora import FILE_KEYS, entries
from weebill.experiment.translating_models import hugging_face_models, may_be_on_hub
from weebill.experiment.zoo import Zoo, members

# A network in training holds weights, gradients, two moments of Adam and smoothed weights.  The content of a
# checkpoint, and the weights before and during a validation, are copies.
MEMORY_COPIES = 9
PROCESS_MIB = 1000  # Python with PyTorch and Lightning; measured: 740 with a small network
# Vectors of the embedding's width that a layer keeps for the backward pass, for each piece.
ACTIVATIONS = 16
VOCABULARY_MIB = 12_000  # SentencePiece on its largest sample
COMPRESSION = 4  # largest ratio of plain text to its file
SENTENCE_BYTES = 300  # a sentence in memory, as text and as pieces
ALIGNED_PAIR_BYTES = 3000  # measured: 700 a direction for pairs of twice 15 pieces
# Memory relative to compressed text; measured: 1.9 MB of plain text make 18 MB.
LANGUAGE_MODEL_EXPANSION = 40
MIB = 2**20
# Size of an encoded corpus and its shuffled order, relative to the Parquet table that it was made of.
ENCODED_SHARE = 3


def unfit_models(config: dict[str, Any]) -> list[str]:
    """Return one line for every existing folder of a Hugging Face model that cannot translate these languages."""
    found = []
    for model in hugging_face_models(config):
        if model.revision is None and Path(model.place).exists():
            from weebill.translation.model.hugging_face_folder import check_folder  # slow to import

            try:
                check_folder(model.place, model.languages, model.coded)
            except InputError as error:
                found.append(f"{model.key}: {error}")
    return found


def local_paths(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for entry in entries(config):
        for key in (*FILE_KEYS, "folder", "local_dir"):
            if key in entry.values and not is_url(entry.values[key]):
                yield key_path((*entry.path, key)), entry.values[key]
        noise = entry.values.get("noise", {"other_languages": []})
        for index, path in enumerate(noise["other_languages"]):
            if path != EMBEDDED:
                yield key_path((*entry.path, "noise", "other_languages", index)), path
    if "local_dir" in config:
        yield "local_dir", config["local_dir"]
    identifier = config["cleaning"].get("language_id", {"model": EMBEDDED})["model"]
    if identifier != EMBEDDED and not is_url(identifier):
        yield "cleaning.language_id.model", identifier
    for model in ("language_model", "lexical_translation"):
        for key in ("source_text", "target_text"):
            for index, path in enumerate(config["scoring"].get(model, {}).get(key, [])):
                yield f"scoring.{model}.{key}[{index}]", path
    bicleaner = config["scoring"].get("bicleaner", {}).get("model")
    if bicleaner is not None and not is_url(bicleaner):
        yield "scoring.bicleaner.model", bicleaner
    if "labelled" in config["evaluation"]:
        yield "evaluation.labelled.table", config["evaluation"]["labelled"]["table"]
    comet = config["evaluation"].get("comet", {})
    if "model" in comet and not may_be_on_hub(comet["model"]):
        yield "evaluation.comet.model", comet["model"]
    if "encoder" in comet:
        yield "evaluation.comet.encoder", comet["encoder"]
    for model in hugging_face_models(config):
        if model.revision is None:
            yield model.key, model.place


def training_memory(
    config: dict[str, Any], model: str, batch_tokens: int, tables: Iterable[str], zoo: Zoo
) -> int:
    """Estimate the MiB of main memory that training a model of the zoo needs on one machine, rather too many.

    Each device has a process of its own.  Activations of a batch count if the CPU computes them.  A table
    that does not exist yet counts as 0.
    """
    hardware, parts = config["hardware"], members(zoo[model])
    entry = {**parts[0], "decoder_layers": max(part["decoder_layers"] for part in parts)}
    network = 4 * MEMORY_COPIES * weights(entry, config).stored
    if hardware["accelerator"] == "cpu":
        layers = entry["encoder_layers"] + entry["decoder_layers"]
        width = ACTIVATIONS * max(entry["embedding"], entry["attention_width"])
        network += 4 * batch_tokens * layers * (width + 3 * entry["feed_forward"])
    text = ENCODED_SHARE * total_bytes(tables)
    return int(hardware["devices"] * (PROCESS_MIB + network / MIB) + text / MIB)


def search_memory(models: Iterable[str], threads: int = 1) -> int:
    """Return the MiB of main memory that translating with model folders needs.

    The weights are in memory as stored, as read, and in the runtime's layout once for each thread.
    threads: threads of the runtime; measured: 425 of 413 MiB.
    """
    return int(2 * PROCESS_MIB + (2 + threads) * total_bytes(models) / MIB)


def vocabulary_memory(tables: Iterable[str]) -> int:
    """Return the MiB of main memory that training a vocabulary needs; it reads a sample of bounded size."""
    return int(PROCESS_MIB + min(VOCABULARY_MIB, 30 * total_bytes(tables) / MIB))


def pretraining_memory(texts: Iterable[str], sentences: int) -> int:
    """Return the MiB of main memory that pre-training an encoder needs; sentences: largest number that is read."""
    kept = min(2 * COMPRESSION * total_bytes(texts), SENTENCE_BYTES * sentences)
    return int(4 * PROCESS_MIB + kept / MIB)


def language_model_memory(sorting: int, texts: Iterable[str]) -> int:
    """Return the MiB of main memory that estimating a language model needs: first sorting, then packing the model."""
    return int(PROCESS_MIB + max(sorting, LANGUAGE_MODEL_EXPANSION * total_bytes(texts) / MIB))


def scoring_memory(models: Iterable[str]) -> int:
    """Return the MiB of main memory that scoring by language models needs."""
    return int(PROCESS_MIB + total_bytes(models) / MIB)


def alignment_memory(pairs: int) -> int:
    """Return the MiB of main memory that aligning sentence pairs needs, both directions at the same time."""
    return int(PROCESS_MIB + pairs * ALIGNED_PAIR_BYTES / MIB)
