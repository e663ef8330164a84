"""The encoders of COMET models: where their configuration and tokenizer are found, and their empty networks."""

from collections.abc import Sequence
from pathlib import Path

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

from goldcrest.errors import InputError
from goldcrest.files import read_json
from goldcrest.metric.tokenizer import FILE, SENTENCEPIECE

# By COMET's names; MiniLM is of BERT's shape, with XLM-R's pieces.
FAMILIES = {"XLM-RoBERTa": XLMRobertaConfig, "MiniLM": BertConfig, "BERT": BertConfig}
MINILM_TOKENIZER = "xlm-roberta-base"
CONFIG = "config.json"


def new_encoder(config: PretrainedConfig) -> PreTrainedModel:
    """An encoder without pooler, whose weights are arbitrary."""
    kind = XLMRobertaModel if isinstance(config, XLMRobertaConfig) else BertModel
    with no_init_weights():
        return kind(config, add_pooling_layer=False)


def find_encoder(
    family: str, name: str, folder: str | Path | None = None
) -> tuple[PretrainedConfig, Path]:
    """An encoder's configuration, and the folder of its tokenizer.

    family: `encoder_model`, and name: `pretrained_model` of the hyperparameters, a folder or a name on the hub.
    folder: stands for it.  Raises InputError where it is not here and cannot be fetched, or is of another family.
    """
    if family not in FAMILIES:
        raise InputError(
            f"encoder_model {family!r}: this encoder is not read; expected {', '.join(FAMILIES)}"
        )
    place = _place(name, folder, [CONFIG, FILE, SENTENCEPIECE])
    config = read_config(place / CONFIG, FAMILIES[family])
    if family == "MiniLM" and not ((place / FILE).is_file() or (place / SENTENCEPIECE).is_file()):
        return config, _place(MINILM_TOKENIZER, None, [FILE])
    return config, place


def read_config(path: Path, kind: type[PretrainedConfig]) -> PretrainedConfig:
    """A config.json.  Raises InputError where it is missing or of another kind of model."""
    values = read_json(path)
    if values.get("model_type") != kind.model_type:
        raise InputError(
            f"{path}: model_type {values.get('model_type')!r}, expected {kind.model_type!r}; "
            "name the folder of the checkpoint's own encoder"
        )
    return kind.from_dict(values)


def _place(name: str, folder: str | Path | None, files: Sequence[str]) -> Path:
    """The folder of an encoder."""
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
    """Some files of a model on the hub, NAME or NAME@COMMIT, as the folder of its cache that holds them.

    Raises InputError with the remedy where they are not in the cache and cannot be fetched.
    """
    repository, _, revision = name.partition("@")
    try:
        return Path(
            snapshot_download(repository, revision=revision or None, allow_patterns=list(files))
        )
    except Exception as error:  # of whatever client the hub's library uses
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"{name}: no such folder, and the Hugging Face hub does not give it ({first}); {remedy}"
        ) from error
