"""Model folders in transformers' own format, with per-layer shapes for cut models.

config.json is the library's, with the whole model's widths and the present numbers of layers; cut models add
`layer_shapes`, the heads and neurons of each block.  model.safetensors contains tied weights once.
"""

import copy
import inspect
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, XLMRobertaModel
from transformers.initialization import no_init_weights
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as SEQ_TO_SEQ,
)

from weebill.errors import InputError, first_line
from weebill.files import WEIGHTS, atomic_folder, read_json, write_json
from weebill.hugging_face.families import FAMILIES, model_types, prunable
from weebill.hugging_face.fit import check_finite, check_layers, computed, is_computed
from weebill.hugging_face.foreign_code import CONFIG
from weebill.hugging_face.loading import (
    INT8_WEIGHTS,
    POOLER,
    SHAPES,
    is_int8,
    library_alone,
    pretrained_model,
    read_config,
    read_generation_settings,
)
from weebill.hugging_face.t5 import KEPT_HEADS
from weebill.pruning.cut import cut_to, layer_shapes
from weebill.replaceable import FolderKind, check_replaceable, has_keys
from weebill.tensor_files import FLOAT, check_types, stored_types, types_of

LARGEST = 2**60  # bytes of one file; the library would divide models of over 50 GB
HALVES = (FLOAT, "F16", "BF16")
# Files of tokenizers, in this version of the library and in older ones.
TOKENIZER_FILES = (
    "added_tokens.json",
    "additional_chat_templates/*.jinja",
    "chat_template.jinja",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


def folder_kind(tokenizer: PreTrainedTokenizerBase | None) -> FolderKind:
    """Return the kind of folder that a model may replace: without a tokenizer, only a folder without one."""
    names = ()
    if tokenizer is not None:
        names = (*TOKENIZER_FILES, *getattr(tokenizer, "vocab_files_names", {}).values())
    return FolderKind(
        always=(CONFIG,),
        perhaps=(WEIGHTS, INT8_WEIGHTS, "generation_config.json", *names),
        mark=(CONFIG, lambda file: has_keys(file, {SHAPES}) or has_keys(file, {"lineage"})),
    )


def check_target(
    path: str | Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None
) -> None:
    """Raise InputError if a folder may not be replaced, or if a model cannot be written.

    A model on `meta` has no weights; the library refuses to write contradictory settings of generation.
    """
    check_replaceable(path, folder_kind(tokenizer))
    settings = getattr(model, "generation_config", None)
    if settings is not None:
        try:
            settings.validate(strict=True)
        except ValueError as error:
            told = " ".join(str(error).split("\n")[:2])  # the first of its faults
            message = f"{path}: not written, {told} Correct the model's `generation_config`"
            raise InputError(message) from error
    for name, value in model.state_dict().items():
        if value.is_meta:
            message = f"{path}: not written, '{name}' has no numbers (device `meta`); read the model's weights first"
            raise InputError(message)


def save_model(
    path: str | Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None = None,
    entries: Mapping[str, Any] | None = None,
    whole: bool = False,
) -> None:
    """Write a model as a folder, atomically; equal models make equal bytes.

    entries: further entries for config.json.  whole: True for a model that is not cut, which may be of no family.
    Raises InputError if the model is of no family, has no class of transformers or no weights (on `meta`), or if
    something other than such a folder is at `path`.
    """
    shapes = {} if whole else {SHAPES: layer_shapes(prunable(model))}
    check_target(path, model, tokenizer)
    check_class(path, model)
    if not whole:
        check_readable(path, model)
    with written_folder(path, tokenizer, {**(entries or {}), **shapes}, WEIGHTS) as folder:
        model.save_pretrained(folder, max_shard_size=LARGEST)


@contextmanager
def written_folder(
    path: str | Path,
    tokenizer: PreTrainedTokenizerBase | None,
    entries: Mapping[str, Any],
    weights: str,
) -> Iterator[Path]:
    """Yield a folder to write configuration and weights to; then add entries and tokenizer, and move it to `path`."""
    with atomic_folder(path, folder_kind(tokenizer)) as folder:
        yield folder
        (folder / weights).chmod(0o644)  # safetensors makes it readable by the owner alone
        write_json(folder / CONFIG, {**read_json(folder / CONFIG), **entries})
        if tokenizer is not None:
            tokenizer.save_pretrained(folder)


def load_model(path: str | Path, generates: bool = False) -> PreTrainedModel:
    """Read a folder of `save_model`, or of the library's own `save_pretrained`, in evaluation mode.

    generates: see `model_class`.  Its weights become float32, because fewer bits would lose small updates.  Only
    safetensors are read, because pickles execute code.  Raises InputError if the folder is missing or damaged,
    contains code, or its model is of no family.
    """
    path = Path(path)
    config = read_config(path)
    kind = model_class(path, config, generates)
    if is_int8(config):
        message = f"{path}: its weights are integers; name the float32 model, or use `load_int8`"
        raise InputError(message)
    try:
        if SHAPES in config:
            with library_alone():
                model, missing = _load_own(path, kind, config)
        else:
            model, missing = pretrained_model(kind, path, may_lack=POOLER, types=False)
    except (OSError, RuntimeError, SafetensorError, StrictDataclassError, ValueError) as error:
        raise InputError(
            f"{path}: damaged, or no model in safetensors ({first_line(error)}); make it again"
        ) from error
    if missing == POOLER and isinstance(model, XLMRobertaModel):
        model.pooler = None  # a base model may have none, and its configuration does not show that
    elif missing:
        raise InputError(f"{path}/{WEIGHTS}: tensors missing: {sorted(missing)}")
    model.name_or_path = str(path.resolve())  # so that no result replaces this folder
    return model.eval()


def check_class(path: str | Path, model: nn.Module) -> None:
    """Raise InputError if a model's class is not one of transformers, such as that of a wrapper."""
    name = type(model).__name__
    if getattr(transformers, name, None) is not type(model):
        raise InputError(f"{path}: {name} is no model of transformers; save the one that it holds")


def check_readable(path: str | Path, model: PreTrainedModel) -> None:
    """Raise InputError if a folder with this model could not be read again.

    Such a model only contains a family's model, or has more tensors than the library's class, such as an adapter's.
    """
    if model.config.model_type not in model_types():
        raise InputError(
            f"{path}: not written, {type(model).__name__} is of no family; save the model of text that it holds"
        )
    with library_alone(), torch.device("meta"), no_init_weights():
        whole = type(model)(copy.deepcopy(model.config)).state_dict().keys()
    more = (name for name in model.state_dict().keys() - whole if not name.endswith(KEPT_HEADS))
    if (found := min(more, default=None)) is not None:
        raise InputError(
            f"{path}: not written, {type(model).__name__} of transformers has no '{found}'; merge adapters into the "
            "weights (merge_and_unload of peft), and take out what is not of the library"
        )


def model_class(
    path: Path, config: Mapping[str, Any], generates: bool = False
) -> type[PreTrainedModel]:
    """Return the library's class of a folder's model.  Raises InputError if it is of no family.

    generates: True for the class that writes text, where the folder names only the base class, as that of
    facebook/bart-large does, or no class.
    """
    known = model_types()
    if not (isinstance(config.get("model_type"), str) and config["model_type"] in known):
        raise InputError(
            f"{path}/config.json: model_type {config.get('model_type')!r}, "
            f"expected one of {', '.join(sorted(known))}"
        )
    names, base = config.get("architectures"), MODEL_MAPPING_NAMES[config["model_type"]]
    if generates and names in (None, [], [base]) and FAMILIES[base].stacks[-1].name == "decoder":
        names = [(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES | SEQ_TO_SEQ)[config["model_type"]]]
    named = isinstance(names, list) and names and isinstance(names[0], str)
    kind = getattr(transformers, names[0], None) if named else None
    if not (inspect.isclass(kind) and issubclass(kind, PreTrainedModel)):
        raise InputError(
            f"{path}/config.json: architectures {names}, expected the name of one class of models"
        )
    return kind


def tie(model: PreTrainedModel, stored: Set[str]) -> None:
    """Tie the weights that the library ties, in place, except those stored separately, such as the head of T5 1.1."""
    for name, source in list(model.all_tied_weights_keys.items()):
        if name in stored and source in stored:
            place, _, attribute = name.rpartition(".")
            module = model.get_submodule(place)
            setattr(module, attribute, nn.Parameter(torch.empty_like(getattr(module, attribute))))
            del model.all_tied_weights_keys[name]
    model.tie_weights(recompute_mapping=False)


def _load_own(
    path: Path, kind: type[PreTrainedModel], config: dict[str, Any]
) -> tuple[PreTrainedModel, set[str]]:
    """Read a folder of `save_model`; return the model and the names of missing tensors."""
    shapes, file = config.pop(SHAPES), path / WEIGHTS
    check_layers(config, len(stored_types(file)), path / CONFIG)
    with no_init_weights():  # reserves memory for the whole model; only a cut model's part is used
        model = kind(kind.config_class.from_dict(config))
    try:
        cut_to(prunable(model), shapes)
    except InputError as error:
        raise InputError(f"{path}/config.json: {SHAPES}: {error}; make the model again") from error
    model.config.dtype = torch.float32
    plain = types_of(model.state_dict())
    # A model that was saved in half precision becomes float32.
    check_types(file, lambda name: HALVES if plain(name) == (FLOAT,) else plain(name))
    tensors = load_file(file)
    tie(model, tensors.keys())
    try:
        missing, unexpected = model.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise InputError(f"{file}: {str(error).splitlines()[-1].strip()}") from error
    if unexpected:
        raise InputError(f"{file}: tensors not expected: {unexpected}")
    for module in model.modules():
        if is_computed(module):
            with torch.no_grad():
                module.weight.copy_(module.create_weight())
    read_generation_settings(model, path)
    lost = set(missing) - model.all_tied_weights_keys.keys() - computed(model)
    if not lost:
        check_finite(path, model)
    return model, lost
