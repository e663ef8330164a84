"""Main memory that jobs need, in MiB."""

from collections.abc import Iterable, Mapping
from typing import Any

from weebill.configuration.cost import total_bytes, weights
from weebill.configuration.schema import Config
from weebill.experiment.zoo import Zoo, members
from weebill.files import MIB

# A network in training holds weights, gradients, two moments of Adam and smoothed weights.  Further copies are the
# content of a checkpoint, and the weights before and during a validation.
MEMORY_COPIES = 9
PROCESS_MIB = 1000  # Python with PyTorch and Lightning; measured: 740 with a small network
# Vectors of the embedding's width that a layer keeps for the backward pass of each piece.
ACTIVATIONS = 16
VOCABULARY_MIB = 12_000  # SentencePiece with its largest sample
COMPRESSION = 4  # largest ratio of plain text to its file
SENTENCE_BYTES = 300  # a sentence in memory, as text and as pieces
ALIGNED_PAIR_BYTES = 3000  # measured: 700 per direction for pairs of 15 and 15 pieces
LINE_BYTES = 150  # a line of text in memory
# Bytes of a language model per byte of plain text, and the shares of it that are left by pruning (n-grams of at least
# three words that occur once) and by quantization.  Measured: 5.3, 0.24 and 0.49 on 48,000 lines of news; 2.9, 0.41
# and 0.47 on 160,000 sentences of Tatoeba, which repeat more.
LANGUAGE_MODEL_EXPANSION, PRUNED_SHARE, QUANTIZED_SHARE = 5.0, 0.4, 0.5
# Largest memory of jobs that ask for a fixed amount: training or pruning with an encoder such as XLM-R-large, and
# distillation of a generator, or the timing of all of its variants.
METRIC_JOB_MIB, GENERATION_JOB_MIB = 8000, 12_000
# Size of an encoded corpus with its shuffled order, relative to its Parquet table.
ENCODED_SHARE = 3


def training_memory(
    config: Config, model: str, batch_tokens: int, tables: Iterable[str], zoo: Zoo
) -> int:
    """Estimate, rather too high, the MiB of main memory that training a model of the zoo needs on one machine.

    Each device has its own process.  A table that does not exist yet counts as 0.
    """
    hardware, parts = config["hardware"], members(zoo[model])
    entry = {**parts[0], "decoder_layers": max(part["decoder_layers"] for part in parts)}
    network = 4 * MEMORY_COPIES * weights(entry, config).stored
    if hardware["accelerator"] == "cpu":  # main memory also holds the activations of a batch
        layers = entry["encoder_layers"] + entry["decoder_layers"]
        width = ACTIVATIONS * max(entry["embedding"], entry["attention_width"])
        network += 4 * batch_tokens * layers * (width + 3 * entry["feed_forward"])
    text = ENCODED_SHARE * total_bytes(tables)
    return int(hardware["devices"] * (PROCESS_MIB + network / MIB) + text / MIB)


def search_memory(models: Iterable[str], threads: int = 1) -> int:
    """Return the MiB of main memory that translating with model folders needs (measured: 425 for 413 MiB)."""
    return searching(total_bytes(models), threads)


def searching(stored: float, threads: int = 1) -> int:
    """Return the MiB of main memory that translating needs; stored: bytes of the models."""
    # Memory holds the weights as stored, as read, and in the runtime's layout once per thread.
    return int(2 * PROCESS_MIB + (2 + threads) * stored / MIB)


def vocabulary_memory(tables: Iterable[str]) -> int:
    """Return the MiB of main memory that training a vocabulary needs; its sample has a bounded size."""
    return drawing_vocabulary(total_bytes(tables))


def drawing_vocabulary(tables: float) -> int:
    """Return the MiB of main memory that training a vocabulary needs; tables: bytes."""
    return int(PROCESS_MIB + min(VOCABULARY_MIB, 30 * tables / MIB))


def pretraining_memory(texts: Iterable[str], sentences: int) -> int:
    """Return the MiB of main memory that pre-training an encoder needs; sentences: largest number to read."""
    kept = min(2 * COMPRESSION * total_bytes(texts), SENTENCE_BYTES * sentences)
    return int(4 * PROCESS_MIB + kept / MIB)


def language_model_memory(settings: Mapping[str, Any], texts: Iterable[str]) -> int:
    """Return the MiB of main memory that estimating a language model needs; settings: `scoring.language_model`."""
    return estimating(settings, COMPRESSION * total_bytes(texts))


def estimating(settings: Mapping[str, Any], text: float) -> int:
    """Return the MiB of main memory that estimating a language model needs; text: bytes of plain text.

    Memory first holds the drawn lines and sorts the text; then it holds the finished model for packing.
    """
    text = min(text, LINE_BYTES * settings["sentences"])
    model = text * model_expansion(settings)
    return int(PROCESS_MIB + max(settings["memory_mb"] + 2 * text / MIB, model / MIB))


def model_expansion(settings: Mapping[str, Any]) -> float:
    """Return the bytes of a language model per byte of its text; settings: `scoring.language_model`."""
    shares = PRUNED_SHARE if any(settings["prune"]) else 1.0
    return LANGUAGE_MODEL_EXPANSION * shares * (QUANTIZED_SHARE if settings["quantized"] else 1.0)


def scoring_memory(models: Iterable[str]) -> int:
    """Return the MiB of main memory that scoring by language models needs."""
    return int(PROCESS_MIB + total_bytes(models) / MIB)


def alignment_memory(pairs: int) -> int:
    """Return the MiB of main memory that aligning sentence pairs needs, in both directions at once."""
    return int(PROCESS_MIB + pairs * ALIGNED_PAIR_BYTES / MIB)
