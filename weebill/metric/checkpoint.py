"""Reading of unbabel-comet's checkpoints: tensors and plain values only; no code in them is ever executed.

A checkpoint is a folder with hparams.yaml and checkpoints/NAME.ckpt, or such a .ckpt.  Checkpoints trained here have
their encoder's configuration and tokenizer in `encoder`.  The .ckpt is a pickle, which may contain code: PyTorch's
weights-only reader loads it and refuses everything except tensors and plain values.
"""

import pickle
import re
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from weebill.errors import InputError
from weebill.metric.architecture import Architecture
from weebill.metric.encoders import fetch, find_encoder, reason
from weebill.metric.network import MetricNetwork
from weebill.metric.tokenizer import SentenceTokenizer

HPARAMS = "hparams.yaml"
CHECKPOINTS = "checkpoints"
ENCODER = "encoder"
# Old checkpoints name a callback by its class, the key of the callback's plain values.
NAMED_CLASSES = tuple(
    f"pytorch_lightning.callbacks.{name}"
    for name in (
        "model_checkpoint.ModelCheckpoint",
        "early_stopping.EarlyStopping",
        "lr_monitor.LearningRateMonitor",
    )
)
# Words in the errors of PyTorch's weights-only reader for a name or a call that belongs to no tensor.
REFUSED = re.compile(r"(?:GLOBAL|call reduce for unrecognized function) (\S+)")
# Not needed for scores: buffers, the part of an encoder that COMET ignores, running sums of training metrics.
SURPLUS = re.compile(
    r"encoder\.model\.(pooler\..*|embeddings\.(position_ids|token_type_ids))"
    r"|layerwise_attention\.dropout_(mask|fill)|(train|val)_metrics\..*|loss\..*"
)


@dataclass(frozen=True)
class Checkpoint:
    """Network and tokenizer of a checkpoint, and the file of its weights."""

    network: MetricNetwork
    tokenizer: SentenceTokenizer
    file: Path


def is_checkpoint(path: Path) -> bool:
    """Return True if a path is a checkpoint of unbabel-comet, a folder or a file."""
    return path.suffix == ".ckpt" or (path / HPARAMS).is_file()


def fetch_checkpoint(name: str) -> Path:
    """Fetch an official model by its name on the hub; return its folder.  Raises InputError if that fails."""
    return fetch(
        name,
        [HPARAMS, f"{CHECKPOINTS}/*.ckpt"],
        "name a model folder, a checkpoint's folder or its .ckpt",
    )


def read_checkpoint(path: Path, encoder: str | Path | None = None) -> Checkpoint:
    """Read a checkpoint.  encoder: the folder of its encoder's configuration and tokenizer, instead of its own.

    Raises InputError if files are missing or damaged, hold more than tensors and plain values, or are of
    another kind of model.
    """
    file, hparams_file = _files(path)
    written = _read_hparams(hparams_file)
    Architecture.from_hyperparameters(written, str(hparams_file))  # before gigabytes are read
    content = _read_tensors(file)
    values = {**written, **content.get("hyper_parameters", {})}
    # unbabel-comet takes these from hparams.yaml, and all others from the .ckpt.
    values["class_identifier"] = written["class_identifier"]
    if written.get("layer_transformation") == "sparsemax_patch":
        values["layer_transformation"] = "sparsemax_patch"
    architecture = Architecture.from_hyperparameters(values, str(file))
    beside = hparams_file.parent / ENCODER
    if encoder is None and beside.is_dir():
        encoder = beside
    try:
        empty, place = find_encoder(
            values.get("encoder_model", "XLM-RoBERTa"),
            values.get("pretrained_model", "xlm-roberta-large"),
            encoder,
        )
        network = MetricNetwork(architecture, empty)
    except InputError as error:
        raise InputError(f"{hparams_file}: {error}") from error
    _fill(network, content["state_dict"], file)
    return Checkpoint(network.eval(), SentenceTokenizer(place), file)


def _files(path: Path) -> tuple[Path, Path]:
    """Return the .ckpt and the hparams.yaml of a checkpoint."""
    if path.suffix == ".ckpt":
        if not path.is_file():
            raise InputError(f"{path}: no such file; check the path")
        places = [path.parent.parent / HPARAMS, path.parent / HPARAMS]
        hparams = next((one for one in places if one.is_file()), None)
        if hparams is None:
            raise InputError(f"{path}: no {HPARAMS} in {places[0].parent}; put it there")
        return path, hparams
    found = sorted([*(path / CHECKPOINTS).glob("*.ckpt"), *path.glob("*.ckpt")])
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        raise InputError(
            f"{path}: expected one .ckpt in {CHECKPOINTS}, found {names}; name the file"
        )
    return found[0], path / HPARAMS


def _read_hparams(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: impossible dates, bytes
        raise InputError(f"{path}: not plain YAML ({reason(error)}); fetch it again") from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: no hyperparameters; fetch it again")
    return values


class _Named:
    """Placeholder of a class that a checkpoint names; it is never instantiated."""


def _read_tensors(path: Path) -> dict[str, Any]:
    """Load a .ckpt with its `state_dict`, memory-mapped if its format allows that."""
    stand_ins = [(type("Named", (_Named,), {}), name) for name in NAMED_CLASSES]
    with ExitStack() as stack:
        stack.enter_context(torch.serialization.safe_globals(stand_ins))
        try:
            content = torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
        except Exception as error:  # damage may lead to any exception
            raise _unread(path, error) from error
    state = content.get("state_dict") if isinstance(content, dict) else None
    named = isinstance(state, dict) and all(isinstance(name, str) for name in state)
    if not (named and all(isinstance(one, Tensor) for one in state.values())):
        raise InputError(f"{path}: no state_dict of tensors; name a checkpoint of unbabel-comet")
    if not isinstance(content.get("hyper_parameters", {}), dict):
        raise InputError(f"{path}: no dictionary of hyperparameters; fetch it again")
    return content


def _unread(path: Path, error: Exception) -> InputError:
    """Explain why a file is not read; call it dangerous only if the reader refused something in it."""
    refused = isinstance(error, pickle.UnpicklingError) and REFUSED.search(str(error))
    if refused:
        return InputError(
            f"{path}: holds more than tensors and plain values ({refused[1]}), which may run code; it was not "
            "run and the file is not read; take the model from its authors"
        )
    return InputError(
        f"{path}: no checkpoint, damaged, or a pointer to one ({reason(error)}); fetch it again"
    )


def _fill(network: MetricNetwork, state: Mapping[str, Tensor], origin: Path) -> None:
    """Fill a network with the tensors of a checkpoint, in float32.  Raises InputError if they do not match."""
    tensors = {}
    for name, value in state.items():
        if not SURPLUS.fullmatch(name):
            tensors[_own_name(name)] = value.float()
    mixed = sorted(
        (name for name in tensors if name.startswith("mix.weights.")),
        key=lambda name: int(name.rsplit(".", 1)[1]),
    )
    if mixed:
        tensors["mix.weights"] = torch.cat([tensors.pop(name) for name in mixed])
    try:
        missing, unexpected = network.load_state_dict(tensors, strict=False, assign=True)
    except RuntimeError as error:
        raise InputError(
            f"{origin}: {str(error).splitlines()[-1].strip()}; is it another encoder's?"
        ) from error
    if missing or unexpected:
        raise InputError(
            f"{origin}: tensors missing {missing[:5]}, not expected {unexpected[:5]}; "
            "do the hyperparameters belong to this file?"
        )


def _own_name(name: str) -> str:
    """Return a tensor's name in our network, whose estimator numbers linear maps only."""
    if found := re.fullmatch(r"estimator\.ff\.(\d+)\.(weight|bias)", name):
        return f"estimator.linears.{int(found[1]) // 3}.{found[2]}"
    if found := re.fullmatch(r"layerwise_attention\.scalar_parameters\.(\d+)", name):
        return f"mix.weights.{found[1]}"
    for theirs, ours in (("encoder.model.", "encoder."), ("layerwise_attention.", "mix.")):
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name
