"""Requirements of an experiment beyond its configuration: local files and memory."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from weebill.configuration.schema import Config, at
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
# Files and folders of a translation experiment, and functions that return True for those that are not local.
FILES: dict[str, Callable[[str], bool] | None] = {
    "local_dir": None,
    "cleaning.language_id.model": lambda path: path == EMBEDDED or is_url(path),
    "scoring.language_model|lexical_translation.source_text|target_text.*": None,
    "scoring.bicleaner.model": is_url,
    "evaluation.labelled.table": None,
    "evaluation.comet.model": may_be_on_hub,
    "evaluation.comet.encoder": None,
}
# Size of an encoded corpus and its shuffled order, relative to the Parquet table that it was made of.
ENCODED_SHARE = 3


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for entry in entries(config):
        for key in (*FILE_KEYS, "folder", "local_dir"):
            if key in entry.values and not is_url(entry.values[key]):
                yield key_path((*entry.path, key)), entry.values[key]
        for place, path in at(entry.values, "noise.other_languages.*"):
            if path != EMBEDDED:
                yield key_path((*entry.path, *place)), path
    for pattern, elsewhere in FILES.items():
        for place, path in at(config, pattern):
            if elsewhere is None or not elsewhere(path):
                yield key_path(place), path
    for model in hugging_face_models(config):
        if model.revision is None:
            yield model.key, model.place


def unfit_models(config: Config) -> list[str]:
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


def folders_with_code(paths: Iterable[tuple[str, str]], types: bool) -> list[str]:
    """Return one line for every folder of a Hugging Face model, among (key, path), that contains code.

    types: same as in `refuse_code`.
    """
    found = []
    for key, path in paths:
        if key.endswith(".hugging_face") and Path(path).is_dir():
            from weebill.hugging_face.loading import refuse_code  # slow to import

            try:
                refuse_code(path, types)
            except InputError as error:
                found.append(f"{key}: {error}")
    return found


def training_memory(
    config: Config, model: str, batch_tokens: int, tables: Iterable[str], zoo: Zoo
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
