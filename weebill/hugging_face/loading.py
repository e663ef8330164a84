"""Reading of folders by transformers, without ever running code that the folder contains or names.

All reading goes through this module, because a model folder is data from strangers.  First, `refuse_code` looks for
entries that would make transformers run code or fetch files.  While transformers reads, it has no standard input to
ask for consent, and no network.
"""

import io
import sys
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import torch
from huggingface_hub import constants
from safetensors import SafetensorError
from transformers import AutoTokenizer, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from weebill.errors import InputError, first_line
from weebill.hugging_face.fit import (
    check_finite,
    check_fit,
    check_layers,
    check_weights,
    is_among,
    refuse_types,
    stored_in,
)
from weebill.hugging_face.foreign_code import ADAPTER, CONFIG, json_values, refuse_code
from weebill.tensor_files import COMPLEX, FLOATS

TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.spm", "tekken.json")  # files of any tokenizer
QUANTIZATION = "quantization_config"  # entry of config.json that transformers reads
INT8_WEIGHTS = "int8.safetensors"  # file in a folder of `generation.int8`
INT8_METHOD = "weebill-int8"  # its `quant_method` there
OLD_QUANTIZATION = "quantization"  # entry that version 0.1.0 wrote instead
SHAPES = "layer_shapes"
# The library's contexts change the whole process, such as PyTorch's initial values; threads that overlapped in them
# would restore each other's changes.
ONE_THREAD = RLock()
POOLER = frozenset({"pooler.dense.weight", "pooler.dense.bias"})


def read_config(folder: Path, types: bool = False) -> dict[str, Any]:
    """Read a model folder's config.json.  Raises InputError if there is none, or as `refuse_code` does."""
    if not (folder / CONFIG).is_file() and not (folder / ADAPTER).is_file():
        raise InputError(f"{folder}: not a model folder (no config.json); name one with a model")
    refuse_code(folder, types)
    return json_values(folder / CONFIG)


def checked_config(folder: str | Path, types: bool = True) -> dict[str, Any]:
    """Return a model folder's config.json.  Raises InputError as `read_config` and `check_stored` do."""
    folder = Path(folder)
    config = read_config(folder, types)
    check_stored(folder, config)
    return config


def check_stored(folder: Path, config: Mapping[str, Any]) -> None:
    """Check the weights of a model folder with this config.json, if they are not int8; the tensors are not read.

    Raises InputError if the weights are quantized by another library, if their files are missing or damaged, or if
    there are too few tensors for the layers.
    """
    if is_int8(config):
        return
    if section := config.get(QUANTIZATION):
        method = section.get("quant_method") if isinstance(section, dict) else section
        raise InputError(
            f"{folder / CONFIG}: {QUANTIZATION}: weights quantized by {method!s:.40} are not read; name the model "
            "as it was before"
        )
    check_weights(folder, config)
    check_layers(config, len(stored_in(folder)), folder / CONFIG)


def pretrained_model(
    kind: Any,
    folder: str | Path,
    *,
    may_lack: Set[str] = frozenset(),
    types: bool = True,
    **options: Any,
) -> tuple[PreTrainedModel, set[str]]:
    """Read a model in safetensors, as float32, with a class of transformers; return it and its missing parameters.

    kind: the class, or one of `AutoModel...`.  may_lack: parameters that may be missing.  types: see `refuse_code`.
    options: options of the class.  Errors of the library pass through.
    Raises InputError if the folder contains code, if its weights are quantized or of a type that is not for weights,
    or if configuration and weights do not fit: the library would make parameters up, or leave tensors out.
    """
    folder = Path(folder)
    config = checked_config(folder, types)
    if is_int8(config):
        raise InputError(
            f"{folder}: its weights are int8, which transformers does not read; name the float32 model, or load "
            "it by `weebill.generation.int8.load_int8`"
        )
    refuse_types(folder, lambda _, stored: stored in COMPLEX)
    try:
        with library_alone():
            model, found = kind.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # reported below
                dtype=torch.float32,
                **options,
            )
    except ValueError as error:
        if "Padding_idx" not in str(error):
            raise
        pad, rows = (config.get(key) for key in ("pad_token_id", "vocab_size"))
        message = f"{folder / CONFIG}: pad_token_id is {pad}, but vocab_size is {rows}; correct the wrong one"
        raise InputError(message) from error
    check_fit(folder, model, found, may_lack)
    parameters = dict(model.named_parameters())
    refuse_types(folder, lambda name, stored: stored not in FLOATS and is_among(name, parameters))
    check_finite(folder, model)
    return model, set(found["missing_keys"])


def check_cache(model: PreTrainedModel, folder: str | Path) -> None:
    """Raise InputError if the library's key-value cache has no room for all layers of a model's decoder."""
    config = model.config.get_text_config(decoder=True)
    layers, room = getattr(config, "num_decoder_layers", None), config.num_hidden_layers
    if layers is not None and layers > room:
        raise InputError(
            f"{folder}: a {config.model_type} with {layers} layers above an encoder of {room}: the library's "
            "key-value cache has no room for more; name another model"
        )


def pretrained_tokenizer(
    folder: str | Path, kind: Any = AutoTokenizer, types: bool = True
) -> PreTrainedTokenizerBase:
    """Read a tokenizer by a class of transformers; errors of the library pass through.

    Raises InputError as `refuse_code` does, or if the folder has no tokenizer: the library would make an empty one.
    """
    refuse_code(folder, types)
    if Path(folder).is_dir() and not any(any(Path(folder).glob(name)) for name in TOKENIZERS):
        raise InputError(
            f"{folder}: has no tokenizer; save it beside the model, by save_pretrained"
        )
    with library_alone():
        return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def read_generation_settings(model: PreTrainedModel, folder: Path) -> None:
    """Give a model the folder's generation_config.json, if any.  Raises InputError if the folder contains code."""
    refuse_code(folder, types=False)
    if (folder / "generation_config.json").is_file():
        with library_alone():
            found = GenerationConfig.from_pretrained(folder, local_files_only=True)
        model.generation_config = found


def is_int8(config: Mapping[str, Any]) -> bool:
    """Return True if a config.json was written by `generation.int8`."""
    section = config.get(QUANTIZATION)
    ours = isinstance(section, Mapping) and section.get("quant_method") == INT8_METHOD
    return ours or (OLD_QUANTIZATION in config and SHAPES in config)


@contextmanager
def library_alone() -> Iterator[None]:
    """Run the library in one thread at a time, without the network or standard input, which may be text to translate.

    A question on standard input fails at once; file descriptor 0 does not change.  Errors of kinds that the library
    does not promise, for values that it does not expect or packages that it lacks, become ValueErrors.
    """
    with ONE_THREAD:
        stdin, offline = sys.stdin, constants.HF_HUB_OFFLINE
        sys.stdin, constants.HF_HUB_OFFLINE = io.StringIO(), True
        try:
            yield
        except (InputError, OSError, ValueError, MemoryError, SafetensorError):
            raise
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            raise ValueError(f"{type(error).__name__}: {first_line(error)}") from error
        finally:
            sys.stdin, constants.HF_HUB_OFFLINE = stdin, offline
