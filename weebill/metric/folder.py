"""Metrics as folders: config.json, model.safetensors, tokenizer.json; or checkpoints of unbabel-comet.

config.json holds format, architecture, the encoder's configuration as transformers writes it, heads and neurons of
each block if some are cut away, the tokenizer's hash (which version 0.1.0 did not write), lineage, and `"weights":
"int8"` if the encoder's are stored as codes (`metric.network`).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from weebill.errors import InputError, first_line, placed
from weebill.files import WEIGHTS, atomic_folder, sha256_file, write_json
from weebill.hugging_face.families import prunable
from weebill.hugging_face.fit import check_layers
from weebill.hugging_face.foreign_code import json_values, refuse_code
from weebill.hugging_face.loading import SHAPES
from weebill.metric.architecture import Architecture
from weebill.metric.checkpoint import (
    CHECKPOINTS,
    HPARAMS,
    check_hyperparameters,
    checkpoint_files,
    fetch,
    read_checkpoint,
)
from weebill.metric.network import (
    ENCODERS,
    MetricNetwork,
    count_numbers,
    hold_stored,
    is_stored,
    new_encoder,
)
from weebill.metric.tokenizer import FILE as TOKENIZER
from weebill.metric.tokenizer import SentenceTokenizer
from weebill.pruning.cut import cut_to, layer_shapes
from weebill.replaceable import FolderKind, check_replaceable, has_format
from weebill.tensor_files import (
    Entry,
    check_types,
    mapped_tensors,
    stored_types,
    types_of,
    write_tensors,
)

FORMAT = "weebill-metric-1"
READABLE = (FORMAT, "goldcrest-metric-1")  # the second has the project's former name
INT8 = "int8"
KIND = FolderKind(
    always=("config.json", WEIGHTS, TOKENIZER),
    mark=("config.json", lambda file: has_format(file, READABLE)),
)


@dataclass(frozen=True)
class Metric:
    """Loaded metric, whose network is in evaluation mode; `file` is the file of its weights."""

    name: str
    network: MetricNetwork
    tokenizer: SentenceTokenizer
    file: Path

    @cached_property
    def sha256(self) -> str:
        """Hash of the weights' file, which identifies the metric in measurements."""
        return sha256_file(self.file)

    @property
    def longest(self) -> int:
        """Largest number of a sentence's pieces, special ones too: as in COMET, four fewer than the positions."""
        return self.network.encoder.config.max_position_embeddings - 4


def load_metric(
    path: str | Path, encoder: str | Path | None = None, *, stream: bool = False
) -> Metric:
    """Read a metric folder, a checkpoint of unbabel-comet, or one by its name on the Hugging Face hub.

    encoder: folder with the encoder's config.json and tokenizer, for checkpoints that only name their encoder.
    stream: leave the encoder's weights in their file; only a `Scorer` that streams can use the result.
    Raises InputError if it is not a metric, is damaged, contains more than tensors, or is another kind of model.
    """
    name, path = str(path), Path(path)
    if not path.exists() and path.suffix != ".ckpt":
        remedy = "name a model folder, a checkpoint's folder or its .ckpt"
        path = fetch(name, [HPARAMS], remedy)
        if (path / HPARAMS).is_file():
            check_hyperparameters(path / HPARAMS)  # before gigabytes are fetched
        path = fetch(name, [HPARAMS, f"{CHECKPOINTS}/*.ckpt"], remedy)
    if _is_checkpoint(path):
        return Metric(name, *read_checkpoint(path, encoder, stream=stream))
    if encoder is not None:
        raise InputError(f"{path}: has its encoder's configuration itself; leave out --encoder")
    return _load_folder(path, stream)


def check_metric(path: str | Path) -> None:
    """Raise InputError unless a local path is a metric of a supported kind; its weights are not read."""
    path = Path(path)
    if _is_checkpoint(path):
        check_hyperparameters(checkpoint_files(path)[1])
    else:
        _read_config(path)


def _is_checkpoint(path: Path) -> bool:
    return path.suffix == ".ckpt" or (path / HPARAMS).is_file()


def save_metric(
    path: str | Path,
    metric: Metric,
    lineage: Mapping[str, Any],
    codes: Iterable[Entry] | None = None,
) -> None:
    """Write a metric folder atomically; equal metrics make equal bytes.

    codes: the tensors of the network with int8 weights (`metric.storing.entries`), to write in place of its own.
    Raises InputError if something other than a metric is at `path`.
    """
    check_replaceable(path, KIND)
    network = metric.network
    encoder = network.encoder.config.to_dict()
    encoder[SHAPES] = layer_shapes(prunable(network.encoder))
    config = {
        "format": FORMAT,
        "architecture": network.architecture.to_dict(),
        "encoder": encoder,
        "parameters": count_numbers(network),
        "lineage": dict(lineage),
    }
    if codes is not None or is_stored(network):
        config["weights"] = INT8
    with atomic_folder(path, KIND) as folder:
        if codes is not None:
            write_tensors(folder / WEIGHTS, codes)
        else:
            state = network.state_dict().items()
            tensors = {name: value.detach().cpu().contiguous() for name, value in state}
            save_file(tensors, folder / WEIGHTS)
            (folder / WEIGHTS).chmod(0o644)  # safetensors makes it readable by the owner alone
        metric.tokenizer.save(folder)
        config["tokenizer"] = {"sha256": sha256_file(folder / TOKENIZER)}
        write_json(folder / "config.json", config)


def _read_config(path: Path) -> tuple[dict[str, Any], Architecture]:
    """Read a metric folder's config.json.  Raises InputError if it is missing, damaged, or another model's."""
    file = path / "config.json"
    if not file.is_file():
        raise InputError(
            f"{path}: neither a metric folder (no config.json) nor a checkpoint of unbabel-comet "
            "(no hparams.yaml); name one of them"
        )
    refuse_code(path, types=False)
    config = json_values(file)
    if config.get("format") not in READABLE:
        raise InputError(
            f"{file}: format {config.get('format')!r}, expected {FORMAT!r}; name a metric, or a checkpoint of "
            "unbabel-comet"
        )
    parts = ("architecture", "encoder")
    if missing := [key for key in parts if not isinstance(config.get(key), dict)]:
        raise InputError(f"{file}: no dictionary of {', '.join(missing)}; make the metric again")
    return config, Architecture.from_dict(config["architecture"], str(file))


def _load_folder(path: Path, stream: bool) -> Metric:
    file = path / "config.json"
    config, architecture = _read_config(path)
    with suppress(OSError):  # reported below
        check_layers(config["encoder"], len(stored_types(path / WEIGHTS)), file)
    encoder = _empty_encoder(config["encoder"], file, stream)
    if (weights := config.get("weights")) not in (None, INT8):
        raise InputError(f"{file}: weights {weights!r}, expected {INT8!r} or none")
    with placed(file):
        network = MetricNetwork(architecture, encoder)
    if weights == INT8:
        hold_stored(encoder)
    if "tokenizer" in config:
        _check_tokenizer(path, config["tokenizer"])
    tokenizer = SentenceTokenizer(path)
    tokenizer.check_ids(encoder.config.vocab_size, path)
    try:
        check_types(path / WEIGHTS, types_of(network.state_dict()))
        read = mapped_tensors if stream else load_file
        network.load_state_dict(read(path / WEIGHTS), assign=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        last = str(error).splitlines()[-1].strip()
        raise InputError(
            f"{path}/{WEIGHTS}: missing, damaged or another model's ({last}); make the metric again"
        ) from error
    return Metric(str(path), network.eval(), tokenizer, path / WEIGHTS)


def _empty_encoder(values: Mapping[str, Any], file: Path, meta: bool) -> PreTrainedModel:
    """Make the encoder that a config.json describes, cut to `layer_shapes`.  Raises InputError if it is damaged."""
    kind = values.get("model_type")
    if kind not in tuple(ENCODERS):
        raise InputError(f"{file}: encoder of type {kind!r}, expected {' or '.join(ENCODERS)}")
    whole = {key: value for key, value in values.items() if key != SHAPES}
    encoder = new_encoder(whole, ENCODERS[kind], file, meta=meta)
    if (shapes := values.get(SHAPES)) is not None:
        try:
            cut_to(prunable(encoder), shapes)
        except (InputError, AttributeError, TypeError) as error:  # values may have other types
            raise InputError(
                f"{file}: {SHAPES}: {first_line(error)}; make the metric again"
            ) from error
    return encoder


def _check_tokenizer(path: Path, written: Any) -> None:
    """Raise InputError if the hash of a folder's tokenizer is not the one written in config.json."""
    wanted = written.get("sha256") if isinstance(written, dict) else written
    if not isinstance(wanted, str):
        message = f"{path}/config.json: tokenizer {written!r:.60}, expected its sha256; make the metric again"
        raise InputError(message)
    file = path / TOKENIZER
    if not file.is_file():
        raise InputError(f"{file}: no such file; restore it, or make the metric again")
    if (found := sha256_file(file)) != wanted:
        raise InputError(
            f"{path}: made with tokenizer {wanted[:8]}…, but {TOKENIZER} is {found[:8]}…; restore it, or make "
            "the metric again"
        )
