"""Reading of unbabel-comet's checkpoints: tensors and plain values only; no code in them is ever executed.

A checkpoint is a folder with hparams.yaml and checkpoints/NAME.ckpt, or such a .ckpt.  Checkpoints trained here have
their encoder's configuration and tokenizer in `encoder`.  The .ckpt is a pickle, which may contain code: PyTorch's
weights-only reader loads it and refuses everything except tensors and plain values.
"""

import mmap
import pickle
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from huggingface_hub import snapshot_download
from torch import Tensor
from transformers import PreTrainedModel

from weebill.errors import InputError, first_line, placed
from weebill.files import check_plain
from weebill.hugging_face.fit import check_layers
from weebill.hugging_face.foreign_code import json_values, refuse_code
from weebill.hugging_face.loading import ONE_THREAD
from weebill.metric.architecture import Architecture
from weebill.metric.network import FAMILIES, MetricNetwork, new_encoder
from weebill.metric.tokenizer import FILE, SENTENCEPIECE, SentenceTokenizer
from weebill.yaml_files import load_yaml

HPARAMS = "hparams.yaml"
CHECKPOINTS = "checkpoints"
ENCODER = "encoder"
MINILM_TOKENIZER = "xlm-roberta-base"
# Old checkpoints use a callback's class as the key of its plain values.
NAMED_CLASSES = tuple(
    f"pytorch_lightning.callbacks.{name}"
    for name in (
        "model_checkpoint.ModelCheckpoint",
        "early_stopping.EarlyStopping",
        "lr_monitor.LearningRateMonitor",
    )
)
# How PyTorch's weights-only reader reports a name or a call that belongs to no tensor.
REFUSED = re.compile(r"(?:GLOBAL|call reduce for unrecognized function) (\S+)")
# Not needed for scores: buffers, the part of an encoder that COMET ignores, running sums of training metrics.
SURPLUS = re.compile(
    r"encoder\.model\.(pooler\..*|embeddings\.(position_ids|token_type_ids))"
    r"|layerwise_attention\.dropout_(mask|fill)|(train|val)_(metrics|corr|mcc)\..*|(word|sent)?loss\..*"
)

# Parts of a network, by unbabel-comet's names and ours.
OWN_NAMES = {r"encoder\.model": "encoder", "layerwise_attention": "mix", "hidden2tag": "tagger"}


def read_checkpoint(
    path: Path, encoder: str | Path | None = None, *, stream: bool = False
) -> tuple[MetricNetwork, SentenceTokenizer, Path]:
    """Read a checkpoint's network and tokenizer, and find the file of its weights.

    encoder: folder with the encoder's configuration and tokenizer, to use instead of its own.  stream: leave the
    weights in the file, in their type.  Raises InputError if files are missing or damaged, hold more than tensors and
    plain values, or are of another kind of model.
    """
    file, hparams_file = checkpoint_files(path)
    check_plain(file)
    written = check_hyperparameters(hparams_file)  # before gigabytes are read
    content = _read_tensors(file, stream)
    values = {**written, **content.get("hyper_parameters", {})}
    # unbabel-comet takes these from hparams.yaml, and all others from the .ckpt.
    values["class_identifier"] = written["class_identifier"]
    if written.get("layer_transformation") == "sparsemax_patch":
        values["layer_transformation"] = "sparsemax_patch"
    architecture = Architecture.from_hyperparameters(values, str(file))
    beside = hparams_file.parent / ENCODER
    if encoder is None and beside.is_dir():
        encoder = beside
    family = values.get("encoder_model", "XLM-RoBERTa")
    name = values.get("pretrained_model", "xlm-roberta-large")
    # The name is from the .ckpt: if hparams.yaml has another, an edit of hparams.yaml would change nothing.
    with placed(file if name != written.get("pretrained_model", name) else hparams_file):
        tensors = len(content["state_dict"])
        empty, place = find_encoder(family, name, encoder, meta=stream, tensors=tensors)
        network = MetricNetwork(architecture, empty)
    tokenizer = SentenceTokenizer(place)
    tokenizer.check_ids(empty.config.vocab_size, place)
    _fill(network, content["state_dict"], file, stream)
    return network.eval(), tokenizer, file


def check_hyperparameters(path: Path) -> dict[str, Any]:
    """Return the values of a hparams.yaml.  Raises InputError if its class or its encoder is not supported."""
    values = _read_hparams(path)
    Architecture.from_hyperparameters(values, str(path))
    with placed(path):
        _check_family(values.get("encoder_model", "XLM-RoBERTa"))
    return values


def checkpoint_files(path: Path) -> tuple[Path, Path]:
    """Return the .ckpt and the hparams.yaml of a checkpoint.  Raises InputError if one is missing."""
    if path.suffix == ".ckpt":
        if not path.is_file():
            raise InputError(f"{path}: no such file; check the path")
        places = [path.parent.parent / HPARAMS, path.parent / HPARAMS]
        hparams = next(filter(Path.is_file, places), None)
        if hparams is None:
            raise InputError(f"{path}: no {HPARAMS} in {places[0].parent}; put it there")
        return path, hparams
    found = sorted([*(path / CHECKPOINTS).glob("*.ckpt"), *path.glob("*.ckpt")])
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        message = f"{path}: expected one .ckpt in {CHECKPOINTS}, found {names}; name the file"
        raise InputError(message)
    return found[0], path / HPARAMS


def _read_hparams(path: Path) -> dict[str, Any]:
    try:
        values = load_yaml(path.read_text(encoding="utf-8"))
    # Impossible dates and bytes are ValueErrors, deep nesting is a RecursionError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not plain YAML ({first_line(error)}); fetch it again") from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: no hyperparameters; fetch it again")
    return values


def _read_tensors(path: Path, stream: bool) -> dict[str, Any]:
    """Load a .ckpt; call it dangerous only if the reader refused something in it.

    stream: map the file's pages as shared, because the system refuses private mappings larger than its memory.
    """
    pages = mmap.MAP_SHARED if stream else mmap.MAP_PRIVATE
    stand_ins = [(type("Named", (), {}), name) for name in NAMED_CLASSES]  # never instantiated
    try:
        with (
            ONE_THREAD,
            torch.serialization.safe_globals(stand_ins),
            torch.serialization.set_default_mmap_options(pages),
        ):
            mapped = zipfile.is_zipfile(path)
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # damage may lead to any exception
        if isinstance(error, pickle.UnpicklingError) and (refused := REFUSED.search(str(error))):
            raise InputError(
                f"{path}: holds more than tensors and plain values ({refused[1]}), which may run code; it was "
                "not run and the file is not read; take the model from its authors"
            ) from error
        raise InputError(
            f"{path}: no checkpoint, damaged, or a pointer to one ({first_line(error)}); fetch it again"
        ) from error
    state = content.get("state_dict") if isinstance(content, dict) else None
    named = isinstance(state, dict) and all(isinstance(name, str) for name in state)
    if not named or not all(isinstance(one, Tensor) for one in state.values()):
        raise InputError(f"{path}: no state_dict of tensors; name a checkpoint of unbabel-comet")
    if not isinstance(content.get("hyper_parameters", {}), dict):
        raise InputError(f"{path}: no dictionary of hyperparameters; fetch it again")
    return content


def _fill(network: MetricNetwork, state: Mapping[str, Tensor], origin: Path, stream: bool) -> None:
    """Fill a network with the tensors of a checkpoint.  Raises InputError if they do not match.

    Tensors become float32; stream: the encoder's keep their type, because a conversion would read all of them.
    """
    tensors, weights = {}, {}
    for name, value in state.items():
        if SURPLUS.fullmatch(name):
            continue
        if not value.is_floating_point():
            raise InputError(
                f"{origin}: tensor {name} is {value.dtype}, expected numbers with fractions; take the model from its "
                "authors"
            )
        if found := re.fullmatch(r"layerwise_attention\.scalar_parameters\.(\d+)", name):
            weights[int(found[1])] = value.float()
        else:
            own = _own_name(name)
            tensors[own] = value if stream and own.startswith("encoder.") else value.float()
    try:
        if weights:
            ordered = [weights[number].reshape(1) for number in sorted(weights)]
            tensors["mix.weights"] = torch.cat(ordered)
        missing, unexpected = network.load_state_dict(tensors, strict=False, assign=True)
    except RuntimeError as error:
        message = f"{origin}: {str(error).splitlines()[-1].strip()}; is it another encoder's?"
        raise InputError(message) from error
    if missing or unexpected:
        raise InputError(
            f"{origin}: tensors missing {missing[:5]}, not expected {unexpected[:5]}; "
            "do the hyperparameters belong to this file?"
        )


def _own_name(name: str) -> str:
    """Return a tensor's name in our network, whose estimator numbers linear maps only."""
    if found := re.fullmatch(r"estimator\.ff\.(\d+)\.(weight|bias)", name):
        return f"estimator.linears.{int(found[1]) // 3}.{found[2]}"
    for theirs, ours in OWN_NAMES.items():
        name = re.sub(f"^{theirs}", ours, name)
    return name


def _check_family(family: Any) -> None:
    if not (isinstance(family, str) and family in FAMILIES):
        raise InputError(
            f"encoder_model {family!r}: this encoder is not read; expected {', '.join(FAMILIES)}"
        )


def find_encoder(
    family: str,
    name: str,
    folder: str | Path | None = None,
    *,
    meta: bool = False,
    tensors: int | None = None,
) -> tuple[PreTrainedModel, Path]:
    """Return an encoder with arbitrary weights, or none (`meta`), and the folder of its tokenizer.

    family: COMET's `encoder_model`.  name: its `pretrained_model`, a folder or a name on the hub.
    folder: used instead of the one that `name` denotes.
    tensors: number of a checkpoint's tensors, which the encoder's configuration must fit.
    Raises InputError if the encoder is neither here nor on the hub, contains code, is of another family or damaged.
    """
    _check_family(family)
    if not (isinstance(name, str) and name):
        raise InputError(f"pretrained_model {name!r}, expected an encoder's folder or name")
    if folder is not None and not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; name that of the encoder '{name}'")
    remedy = "name a folder that holds its config.json and tokenizer.json (--encoder)"
    place = Path(folder or fetch(name, ["config.json", FILE, SENTENCEPIECE], remedy))
    refuse_code(place, types=False)
    kind, path = FAMILIES[family], place / "config.json"
    values, wanted = json_values(path), kind.config_class.model_type
    if (found := values.get("model_type")) != wanted:
        raise InputError(
            f"{path}: model_type {found!r}, expected {wanted!r}; "
            "name the folder of the checkpoint's own encoder"
        )
    if tensors is not None:
        check_layers(values, tensors, path)
    encoder = new_encoder(values, kind, path, meta=meta)
    if family == "MiniLM" and not any((place / one).is_file() for one in (FILE, SENTENCEPIECE)):
        place = fetch(MINILM_TOKENIZER, [FILE], remedy)
    return encoder, place


def fetch(name: str, files: Sequence[str], remedy: str) -> Path:
    """Return a local folder, or fetch files of NAME or NAME@COMMIT from the hub.  Raises InputError if that fails."""
    if Path(name).is_dir():
        return Path(name)
    repository, _, revision = name.partition("@")
    try:
        with ONE_THREAD:  # another one may just read a model without the network
            place = snapshot_download(repository, revision=revision or None, allow_patterns=files)
    except Exception as error:  # the hub's library may raise any of its client's exceptions
        message = f"{name}: no such folder, and the Hugging Face hub does not give it ({first_line(error)}); {remedy}"
        raise InputError(message) from error
    return Path(place)
