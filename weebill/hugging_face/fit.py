"""Checks that the weights in a model folder are sound, and fit the model that its config.json makes.

The library would make up what is missing or of another shape, convert what is no number with fractions, and leave
out what has no place.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.files import WEIGHTS
from weebill.hugging_face.foreign_code import CONFIG, INDEX, WEIGHTS_ENTRY, entries, json_values
from weebill.tensor_files import FLOATS, stored_types

WEIGHTS_INDEX = f"model{INDEX}"
# Suffixes of weights of other kinds: pickles, and formats of other libraries.
OTHER_WEIGHTS = {
    *(".bin", ".pt", ".pth", ".ckpt", ".h5"),
    *(".msgpack", ".ot", ".gguf", ".onnx", ".safetensors"),
}
# Numbers of layers in a config.json, by the names of the library's classes.
LAYERS = {
    *("num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers", "num_decoder_layers"),
    *("n_layer", "n_layers"),
}
FEW_LAYERS = 100  # this many are built within a second; then an error names the missing tensors
WRAPPED = ("_orig_mod.", "module.")  # prefixes of torch.compile and DistributedDataParallel


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


def check_layers(config: Mapping[str, Any], tensors: int, origin: str | Path) -> None:
    """Raise InputError if a config.json, of a model or a part, has many more layers than there are tensors for it.

    Call it before a network is built: this takes milliseconds per layer, so damage could cost minutes.
    """
    for place, key, value in entries(config):
        if key in LAYERS and isinstance(value, int) and value > max(tensors, FEW_LAYERS):
            raise InputError(
                f"{origin}: {'.'.join((*place, key))} is {value!s:.30}, but the weights are only {tensors} tensors; "
                "fetch or make the model again"
            )


def check_fit(
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
    kinds = stored_in(folder) if others else {}
    for name in others:
        numbered = any(part.isdecimal() for part in name.split("."))
        if numbered and name.endswith((".weight", ".bias")) and kinds.get(name) in FLOATS:
            raise InputError(
                f"{folder}: tensor {name} has no place in the model that {CONFIG} makes; {remedy}"
            )


def check_finite(folder: Path, model: PreTrainedModel) -> None:
    """Raise InputError if a parameter is NaN or infinite, which would give empty texts without an error."""
    for name, value in model.named_parameters():
        # The extremes are NaN if any number is.
        if value.numel() and not all(one.isfinite() for one in value.detach().aminmax()):
            raise InputError(
                f"{folder}: NaN or infinity in {name}; the model has diverged, or the file is damaged: take another"
            )


def refuse_types(folder: Path, wrong: Callable[[str, str], bool]) -> None:
    """Raise InputError if a tensor has a wrong type for its name; the library would convert it."""
    for path in sorted(folder.glob("*.safetensors")):
        for name, kind in stored_types(path).items():
            if wrong(name, kind):
                raise InputError(
                    f"{path}: tensor {name} is {kind}, expected one of {', '.join(FLOATS)}; fetch or make the model "
                    "again"
                )


def is_among(name: str, parameters: Iterable[str]) -> bool:
    """Return True if a file's tensor is one of a model's parameters, whose names may have another prefix."""
    name = f".{name}"
    return any(f".{one}".endswith(name) or name.endswith(f".{one}") for one in parameters)


def stored_in(folder: Path) -> dict[str, str]:
    """Return the type of each tensor of a folder, by name."""
    files = sorted(folder.glob("*.safetensors"))
    return {name: kind for file in files for name, kind in stored_types(file).items()}


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
