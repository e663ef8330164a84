"""Checks of a model folder before transformers reads it: it runs no code, and reads only sound, plain files.

A model folder is data from strangers.  Its JSON files may name code, which the library would run or fetch, and other
files.  A damaged one would be ignored without a word, and the settings in it with it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import transformers
from transformers import PreTrainedTokenizerBase
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from weebill.errors import InputError
from weebill.files import check_plain, read_json

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
INDEX = ".safetensors.index.json"
# Files that the library reads, besides the index of the weights.
READ = {
    *(CONFIG, "generation_config.json", "tokenizer_config.json"),
    *("special_tokens_map.json", "added_tokens.json"),
}
PARTS = ("fsmt_decoder",)  # types of parts that transformers itself wrote and now ignores
PIECES = {"tokenizer.json", "vocab.json"}  # large files, from which no library takes a class
WEIGHTS_ENTRY = "transformers_weights"  # entry that names the file to read; ours names no file
INT8_ADVICE = "int8 weights of Weebill, to be read by weebill.generation.int8.load_int8"


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
            for place, key, value in entries(json_values(path)):
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


def json_values(path: Path) -> dict[str, Any]:
    """Read the dictionary of a folder's JSON file; return an empty one for a damaged file that no library reads.

    Raises InputError if another file is damaged.
    """
    needed = path.name in READ or path.name.endswith(INDEX)
    try:
        values = read_json(path)
    except InputError:
        if needed:
            raise
        return {}
    if needed and not isinstance(values, dict):
        raise InputError(f"{path}: no dictionary, {values!s:.60}; fetch or make the model again")
    return values if isinstance(values, dict) else {}


def entries(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
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
