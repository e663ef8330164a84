"""Reading of folders by transformers, without ever running code that the folder contains or names.

All reading goes through this module, because a model folder is data from strangers.  Before, `refuse_code` checks for
entries that would make it run code or fetch files.  Meanwhile, it has no standard input to ask for consent, and no
network.
"""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import constants
from safetensors import SafetensorError
from transformers import AutoTokenizer, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from weebill.errors import InputError, first_line
from weebill.hugging_face.foreign_code import (
    ADAPTER,
    CONFIG,
    INDEX,
    WEIGHTS_ENTRY,
    entries,
    json_values,
    refuse_code,
)
from weebill.tensor_files import COMPLEX, FLOATS, stored_types

WEIGHTS = "model.safetensors"
WEIGHTS_INDEX = f"model{INDEX}"
# Suffixes of weights of other kinds: pickles, and formats of other libraries.
OTHER_WEIGHTS = {
    *(".bin", ".pt", ".pth", ".ckpt", ".h5"),
    *(".msgpack", ".ot", ".gguf", ".onnx", ".safetensors"),
}
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.spm", "tekken.json")  # files of all of them
QUANTIZATION = "quantization_config"  # entry of config.json that transformers reads
INT8_WEIGHTS = "int8.safetensors"  # file in a folder of `generation.int8`
INT8_METHOD = "weebill-int8"  # its `quant_method` there
OLD_QUANTIZATION = "quantization"  # entry that version 0.1.0 wrote instead
SHAPES = "layer_shapes"
POOLER = frozenset({"pooler.dense.weight", "pooler.dense.bias"})
# Numbers of layers in a config.json, by the names of the library's classes.
LAYERS = {
    *("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "num_decoder_layers"),
    *("n_layer", "n_layers"),
}
FEW_LAYERS = 100  # as many are made within a second, and what the file lacks is told by its names
WRAPPED = ("_orig_mod.", "module.")  # prefixes of torch.compile and DistributedDataParallel


def read_config(folder: Path, types: bool = False) -> dict[str, Any]:
    """Read a model folder's config.json.  Raises InputError if there is none, or as `refuse_code` does."""
    if not (folder / CONFIG).is_file() and not (folder / ADAPTER).is_file():
        raise InputError(f"{folder}: not a model folder (no config.json); name one with a model")
    refuse_code(folder, types)
    return json_values(folder / CONFIG)


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
    options: options of the class.  The library's own errors pass.
    Raises InputError if the folder contains code, if its weights are quantized or of a type that is not for weights,
    or if configuration and weights do not fit: the library would make parameters up, or leave tensors out.
    """
    folder = Path(folder)
    refuse_code(folder, types)
    config = json_values(folder / CONFIG)
    if is_int8(config):
        raise InputError(
            f"{folder}: its weights are int8, which transformers does not read; name the float32 model, or load "
            "it by `weebill.generation.int8.load_int8`"
        )
    if section := config.get(QUANTIZATION):
        method = section.get("quant_method") if isinstance(section, dict) else section
        raise InputError(
            f"{folder / CONFIG}: {QUANTIZATION}: weights quantized by {method!s:.40} are not read; name the model "
            "as it was before"
        )
    check_weights(folder, config)
    _refuse_types(folder, lambda _, stored: stored in COMPLEX)
    check_layers(config, len(_stored(folder)), folder / CONFIG)
    try:
        with library_alone():
            model, found = kind.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are told below
                dtype=torch.float32,
                **options,
            )
    except ValueError as error:
        if "Padding_idx" not in str(error):
            raise
        pad, rows = (config.get(key) for key in ("pad_token_id", "vocab_size"))
        message = f"{folder / CONFIG}: pad_token_id is {pad}, but vocab_size is {rows}; correct the wrong one"
        raise InputError(message) from error
    _check_fit(folder, model, found, may_lack)
    parameters = dict(model.named_parameters())
    _refuse_types(folder, lambda name, stored: stored not in FLOATS and _is_among(name, parameters))
    check_finite(folder, model)
    return model, set(found["missing_keys"])


def check_weights(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise InputError if a model folder has no weights in safetensors, or lacks some of their files."""
    name = config.get(WEIGHTS_ENTRY) or (WEIGHTS if (folder / WEIGHTS).is_file() else WEIGHTS_INDEX)
    names = [name]
    if name.endswith(INDEX) and (folder / name).is_file():
        parts = json_values(folder / name).get("weight_map")
        if not (isinstance(parts, dict) and parts):
            message = f"{folder / name}: has no weight_map; fetch or make the model again"
            raise InputError(message)
        names = sorted({*parts.values()})
    missing = [one for one in names if not (folder / one).is_file()]
    if missing and missing != [WEIGHTS_INDEX]:
        raise InputError(f"{folder / missing[0]}: no such file; fetch or make the model again")
    if missing:
        others = [one.name for one in sorted(folder.iterdir()) if one.suffix in OTHER_WEIGHTS]
        raise InputError(
            f"{folder}: has no {WEIGHTS} or {WEIGHTS_INDEX}{f', but {others[0]}' if others else ''}, and pickles "
            "are not read, as they run code; fetch all files, or save a model that you trust by save_pretrained"
        )


def _check_fit(
    folder: Path, model: PreTrainedModel, found: Mapping[str, Any], may_lack: Set[str]
) -> None:
    """Raise InputError if tensors of a folder and a model that was read from it differ in names or shapes.

    found: the library's report.  Tensors that belong to no layer may be left out, as the head of a classifier.
    """
    remedy = f"restore {CONFIG}, or fetch or make the model again"
    for name, stored, wanted in sorted(found["mismatched_keys"]):
        raise InputError(
            f"{folder}: tensor {name} is {tuple(stored)}, but {CONFIG} makes it {tuple(wanted)}; {remedy}"
        )
    parameters, others = dict(model.named_parameters()), sorted(found["unexpected_keys"])
    lost = sorted(({*found["missing_keys"]} & parameters.keys()) - may_lack - computed(model))
    if lost and others and others[0].startswith(WRAPPED):
        raise InputError(
            f"{folder}: tensors are named as in a wrapper, such as {others[0]}; save the model that is in it"
        )
    if lost:
        raise InputError(
            f"{folder}: tensors missing: {lost[:3]}{' and more' if len(lost) > 3 else ''}; fetch or make the "
            "model again"
        )
    kinds = _stored(folder) if others else {}
    for name in others:
        numbered = any(part.isdecimal() for part in name.split("."))
        if numbered and name.endswith((".weight", ".bias")) and kinds.get(name) in FLOATS:
            raise InputError(
                f"{folder}: tensor {name} has no place in the model that {CONFIG} makes; {remedy}"
            )


def _stored(folder: Path) -> dict[str, str]:
    """Return the type of each tensor of a folder, by name."""
    files = sorted(folder.glob("*.safetensors"))
    return {name: kind for file in files for name, kind in stored_types(file).items()}


def check_finite(folder: Path, model: PreTrainedModel) -> None:
    """Raise InputError if a parameter is NaN or infinite, which would give empty texts without an error."""
    for name, value in model.named_parameters():
        # The extremes are NaN if any number is.
        if value.numel() and not all(one.isfinite() for one in value.detach().aminmax()):
            raise InputError(
                f"{folder}: NaN or infinity in {name}; the model has diverged, or the file is damaged: take another"
            )


def check_cache(model: PreTrainedModel, folder: str | Path) -> None:
    """Raise InputError if the library's key-value cache has no room for all layers of a model's decoder."""
    config = model.config.get_text_config(decoder=True)
    layers, room = getattr(config, "num_decoder_layers", None), config.num_hidden_layers
    if layers is not None and layers > room:
        raise InputError(
            f"{folder}: a {config.model_type} with {layers} layers above an encoder of {room}: the library's "
            "key-value cache has no room for more; name another model"
        )


def check_layers(config: Mapping[str, Any], tensors: int, origin: str | Path) -> None:
    """Raise InputError if a config.json, of a model or a part, has many more layers than there are tensors for it.

    It is for use before a network is built, which takes milliseconds a layer, so damage could take minutes.
    """
    for place, key, value in entries(config):
        if key in LAYERS and isinstance(value, int) and value > max(tensors, FEW_LAYERS):
            raise InputError(
                f"{origin}: {'.'.join((*place, key))} is {value!s:.30}, but the weights are only {tensors} tensors; "
                "fetch or make the model again"
            )


def is_computed(module: object) -> bool:
    """Return True for a table of sinusoidal positions that is a parameter."""
    return "Sinusoidal" in type(module).__name__ and hasattr(module, "create_weight")


def computed(model: PreTrainedModel) -> set[str]:
    """Return the parameters that the library computes if a file lacks them: tables of sinusoidal positions."""
    return {
        f"{place}.{name}"
        for place, module in model.named_modules()
        if is_computed(module)
        for name, _ in module.named_parameters(recurse=False)
    }


def pretrained_tokenizer(
    folder: str | Path, kind: Any = AutoTokenizer, types: bool = True
) -> PreTrainedTokenizerBase:
    """Read a tokenizer by a class of transformers; its errors pass.

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


def _is_among(name: str, parameters: Iterable[str]) -> bool:
    """Return True if a file's tensor is one of a model's parameters, whose names may have another prefix."""
    name = f".{name}"
    return any(f".{one}".endswith(name) or name.endswith(f".{one}") for one in parameters)


def _refuse_types(folder: Path, wrong: Callable[[str, str], bool]) -> None:
    """Raise InputError if a tensor has a wrong type for its name; the library would convert it."""
    for path in sorted(folder.glob("*.safetensors")):
        for name, kind in stored_types(path).items():
            if wrong(name, kind):
                raise InputError(
                    f"{path}: tensor {name} is {kind}, expected one of {', '.join(FLOATS)}; fetch or make the model "
                    "again"
                )


@contextmanager
def library_alone() -> Iterator[None]:
    """Run the library without the network, and without standard input, which may be text to translate.

    A question there fails at once; file descriptor 0 does not change.  Errors of kinds that the library does not
    promise, for values that it does not expect or packages that it lacks, become ValueErrors.
    """
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
