"""Reading of folders by transformers, without ever running code that the folder contains or names.

All reading goes through this module, because a model folder is data from strangers.  First, `refuse_code` looks for
entries that would make transformers run code or fetch files.  While transformers reads, it has no standard input to
ask for consent, and no network.
"""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import transformers
from huggingface_hub import constants
from safetensors import SafetensorError
from transformers import AutoTokenizer, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from weebill.errors import InputError
from weebill.files import check_plain, read_json
from weebill.tensor_files import COMPLEX, FLOATS, stored_types
from weebill_runtime.json_text import parse_json

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
INDEX = ".safetensors.index.json"
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.spm", "tekken.json")  # files of any tokenizer
PARTS = ("fsmt_decoder",)  # types of parts that transformers itself wrote and now ignores
PIECES = {"tokenizer.json", "vocab.json"}  # large files, from which no library takes a class
QUANTIZATION = "quantization_config"  # entry of config.json that transformers reads
INT8_WEIGHTS = "int8.safetensors"  # file in a folder of `generation.int8`
INT8_METHOD = "weebill-int8"  # its `quant_method` there
WEIGHTS_ENTRY = "transformers_weights"  # entry that names the file to read; ours names no file
INT8_ADVICE = "int8 weights of Weebill, to be read by weebill.generation.int8.load_int8"
OLD_QUANTIZATION = "quantization"  # entry that version 0.1.0 wrote instead
SHAPES = "layer_shapes"
POOLER = frozenset({"pooler.dense.weight", "pooler.dense.bias"})
# Numbers of layers in a config.json, by the names of the library's classes.
LAYERS = {
    *("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "num_decoder_layers"),
    *("n_layer", "n_layers"),
}
FEW_LAYERS = 100  # this many are built within a second; then an error names the missing tensors


def read_config(folder: Path, types: bool = False) -> dict[str, Any]:
    """Read a model folder's config.json.  Raises InputError if there is none, or as `refuse_code` does."""
    if not (folder / CONFIG).is_file() and not (folder / ADAPTER).is_file():
        raise InputError(f"{folder}: not a model folder (no config.json); name one with a model")
    refuse_code(folder, types)
    return read_json(folder / CONFIG)


def pretrained_model(
    kind: Any,
    folder: str | Path,
    *,
    may_lack: Set[str] = frozenset(),
    types: bool = True,
    **options: Any,
) -> tuple[PreTrainedModel, set[str]]:
    """Read a model in safetensors with one of transformers' classes; return it and its missing parameters.

    kind: the class, or one of `AutoModel...`.  may_lack: parameters that may be missing.  types: see `refuse_code`.
    options: options of the class, such as `dtype`.  Errors of the library pass through.
    Raises InputError if the folder contains code, if its weights are our int8 or have a type that is not for weights,
    or if parameters are missing, which the library would initialise at random.
    """
    folder = Path(folder)
    refuse_code(folder, types)
    config = _values(folder / CONFIG)
    if is_int8(config):
        raise InputError(
            f"{folder}: its weights are int8, which transformers does not read; name the float32 model, or load "
            "it by `weebill.generation.int8.load_int8`"
        )
    _refuse_types(folder, lambda _, stored: stored in COMPLEX)
    if files := [*folder.glob("*.safetensors")]:
        check_layers(config, sum(len(stored_types(file)) for file in files), folder / CONFIG)
    with library_alone():
        model, found = kind.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **options,
        )
    missing, parameters = set(found["missing_keys"]), dict(model.named_parameters())
    if lost := sorted((missing & parameters.keys()) - may_lack - computed(model)):
        raise InputError(
            f"{folder}: tensors missing: {lost[:3]}{' and more' if len(lost) > 3 else ''}; fetch or make the "
            "model again"
        )
    if not config.get(QUANTIZATION):
        _refuse_types(
            folder, lambda name, stored: stored not in FLOATS and _is_among(name, parameters)
        )
    return model, missing


def check_layers(config: Mapping[str, Any], tensors: int, origin: str | Path) -> None:
    """Raise InputError if a config.json, of a model or a part, has many more layers than there are tensors for it.

    Call it before a network is built: this takes milliseconds per layer, so damage could cost minutes.
    """
    for place, key, value in _entries(config):
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


def first_line(error: Exception) -> str:
    """Return the first line of one of the library's errors, for a message."""
    return str(error).strip().split("\n")[0] or type(error).__name__


def is_int8(config: Mapping[str, Any]) -> bool:
    """Return True if a config.json was written by `generation.int8`."""
    section = config.get(QUANTIZATION)
    ours = isinstance(section, Mapping) and section.get("quant_method") == INT8_METHOD
    return ours or (OLD_QUANTIZATION in config and SHAPES in config)


def refuse_code(folder: str | Path, types: bool = True) -> None:
    """Raise InputError if a model folder makes transformers run code, or read other files than its safetensors.

    types: if True, refuse also types of models and classes of tokenizers that the installed library does not define;
    for folders that name the class to read them with, instead of the caller.
    """
    folder = Path(folder)
    check_plain(folder)
    if (folder / ADAPTER).is_file():
        raise InputError(
            f"{folder / ADAPTER}: an adapter changes another model; merge it into that model and save the whole, or "
            "remove the file"
        )
    files = [path for path in sorted(folder.glob("*.json")) if path.name not in PIECES]
    for check in (_code_fault, _type_fault)[: 2 if types else 1]:
        for path in files:
            for place, key, value in _entries(_values(path)):
                if fault := check(path.name, place, key, value):
                    raise InputError(f"{path}: {'.'.join((*place, key))} {fault}")


def _code_fault(name: str, place: tuple[str, ...], key: str, value: Any) -> str | None:
    """Return the code or file that an entry of a folder's file `name` would run or read, and the remedy, or None."""
    # A vocabulary may have a piece of this name, with a number.
    if key == "auto_map" and not isinstance(value, int | float | None):
        while isinstance(value, dict | list) and value:  # to the first text in it
            value = next(iter(value.values())) if isinstance(value, dict) else value[0]
        return (
            f"names code ({value!s:.60}), which is never run; remove the entry if transformers itself has the model, "
            "or name another model"
        )
    if key.endswith(("attn_implementation", "experts_implementation")) and "/" in str(value):
        return f"names code of the hub ({value!s:.60}), which is not fetched; remove the entry"
    if key == WEIGHTS_ENTRY and value not in (None, INT8_ADVICE) and not _is_weights(value, INDEX):
        return f"is {value!r:.60}, expected a file *.safetensors of the folder; remove the entry"
    if name.endswith(INDEX) and place[:1] == ("weight_map",) and not _is_weights(value):
        return (
            f"is {value!r:.60}, expected a file *.safetensors of the folder; fetch the model again"
        )
    return None


def _type_fault(name: str, _place: tuple[str, ...], key: str, value: Any) -> str | None:
    """Return the fault and the remedy if an entry of a folder's file `name` names a type unknown to the library."""
    version = transformers.__version__
    configures = name == CONFIG or name.startswith("config.")  # the second is for newer versions
    if value is None:
        return None
    if configures and key == "model_type" and value not in (*CONFIG_MAPPING_NAMES, *PARTS):
        return f"{value!r:.60} is none that transformers {version} defines; name another model"
    if key == "tokenizer_class":
        kind = tokenizer_class_from_name(value) if isinstance(value, str) else None
        if not (isinstance(kind, type) and issubclass(kind, PreTrainedTokenizerBase)):
            return (
                f"{value!r:.60} is no tokenizer of transformers {version}; save the tokenizer with this version "
                "again, or name another model"
            )
    return None


def _is_weights(name: Any, *more: str) -> bool:
    """Return True if a value is the plain name of a safetensors file."""
    suffixes = (".safetensors", *more)
    return isinstance(name, str) and PurePath(name).name == name and name.endswith(suffixes)


def _values(path: Path) -> dict[str, Any]:
    """Read a JSON file's dictionary; return an empty one if the file holds none: the library ignores such files."""
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def _entries(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Yield (keys above, key, value) of all entries except our lineage, which transformers does not read."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), values)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*place, str(index)), one) for index, one in enumerate(value)]
        elif isinstance(value, dict):
            for key, one in value.items():
                yield place, key, one
                if (*place, key) != ("lineage",):
                    waiting.append(((*place, key), one))


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

    A question on standard input fails at once; file descriptor 0 does not change.  Errors of kinds that the library
    does not promise, for values that it does not expect or packages that it lacks, become ValueErrors.
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
