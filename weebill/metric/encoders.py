"""Encoders of COMET models: places of their configuration and tokenizer, and their empty networks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from transformers import (
    BertConfig,
    BertModel,
    PretrainedConfig,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)
from transformers.initialization import no_init_weights

from weebill.errors import InputError
from weebill.files import read_json
from weebill.hugging_face.loading import refuse_code
from weebill.metric.tokenizer import FILE, SENTENCEPIECE

# Keys are COMET's names; MiniLM has BERT's shape and XLM-R's pieces.
FAMILIES = {"XLM-RoBERTa": XLMRobertaConfig, "MiniLM": BertConfig, "BERT": BertConfig}
MINILM_TOKENIZER = "xlm-roberta-base"
CONFIG = "config.json"


def new_encoder(
    values: dict[str, Any], kind: type[PretrainedConfig], origin: str | Path
) -> PreTrainedModel:
    """Make an encoder without pooler and with arbitrary weights.

    values: those of its config.json.  kind: class of its configuration.  origin: the file, for errors.
    Raises InputError if the values make no encoder.
    """
    network = XLMRobertaModel if kind is XLMRobertaConfig else BertModel
    try:
        with no_init_weights():
            return network(kind.from_dict(values), add_pooling_layer=False)
    except (
        Exception
    ) as error:  # the library checks few values; others fail later, when they are used
        raise InputError(
            f"{origin}: the encoder's configuration is damaged ({reason(error)}); "
            "make it or fetch it again"
        ) from error


def find_encoder(
    family: str, name: str, folder: str | Path | None = None
) -> tuple[PreTrainedModel, Path]:
    """Return an encoder with arbitrary weights, and the folder of its tokenizer.

    family, name: `encoder_model` and `pretrained_model` of the hyperparameters; the latter is a folder or a name
    on the hub.  folder: used instead.  Raises InputError if the encoder is not here and cannot be fetched,
    brings code, is of another family or damaged.
    """
    if not (isinstance(family, str) and family in FAMILIES):
        raise InputError(
            f"encoder_model {family!r}: this encoder is not read; expected {', '.join(FAMILIES)}"
        )
    if not (isinstance(name, str) and name):
        raise InputError(f"pretrained_model {name!r}, expected an encoder's folder or name")
    place = _place(name, folder, [CONFIG, FILE, SENTENCEPIECE])
    refuse_code(place, types=False)
    encoder = _read_encoder(place / CONFIG, FAMILIES[family])
    if family == "MiniLM" and not ((place / FILE).is_file() or (place / SENTENCEPIECE).is_file()):
        return encoder, _place(MINILM_TOKENIZER, None, [FILE])
    return encoder, place


def reason(error: Exception) -> str:
    """Return the first line of a library's error, or its class if there is no text.

    PyTorch's advice to read a pickle without `weights_only`, which executes its code, is left out.
    """
    lines = (line.strip() for line in str(error).splitlines() if "weights_only" not in line)
    return next((line for line in lines if line), type(error).__name__)


def _read_encoder(path: Path, kind: type[PretrainedConfig]) -> PreTrainedModel:
    """Read the encoder configuration from config.json.  Raises InputError if it is missing, damaged or foreign."""
    values = read_json(path)
    found = values.get("model_type") if isinstance(values, dict) else None
    if found != kind.model_type:
        raise InputError(
            f"{path}: model_type {found!r}, expected {kind.model_type!r}; "
            "name the folder of the checkpoint's own encoder"
        )
    return new_encoder(values, kind, path)


def _place(name: str, folder: str | Path | None, files: Sequence[str]) -> Path:
    """Return the folder of an encoder."""
    if folder is not None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: no such folder; name that of the encoder '{name}'")
        return Path(folder)
    if Path(name).is_dir():
        return Path(name)
    return fetch(
        name, files, "name a folder that holds its config.json and tokenizer.json (--encoder)"
    )


def fetch(name: str, files: Sequence[str], remedy: str) -> Path:
    """Fetch some files of a model on the hub, NAME or NAME@COMMIT; return the folder in the cache.

    Raises InputError with the remedy if they are not in the cache and cannot be fetched.
    """
    repository, _, revision = name.partition("@")
    try:
        return Path(
            snapshot_download(repository, revision=revision or None, allow_patterns=list(files))
        )
    except Exception as error:  # the hub's library may raise any of its client's exceptions
        raise InputError(
            f"{name}: no such folder, and the Hugging Face hub does not give it ({reason(error)}); {remedy}"
        ) from error
