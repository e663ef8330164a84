"""Int8 models that generate text on the processor: a quarter, or an eighth, of the size on disk and in memory.

A folder of `save_int8` has per-layer shapes, and in config.json a `quantization_config` with a `quant_method` of our
own.  Its int8.safetensors holds for each linear map and embedding the parts of a grid of `weight_grids`, such as
`NAME.codes` and `NAME.scale`, tied ones once; biases and normalisations are float32.  Version 0.1.0 called the entry
`quantization` and the file model.safetensors.

transformers would only warn about an unknown `quant_method`, and initialise the weights at random.  Therefore
`transformers_weights` of config.json, which it takes for a file name, contains the remedy.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.initialization import no_init_weights
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding

from weebill.errors import InputError
from weebill.generation.int8_decoding import make_fast
from weebill.generation.int8_facts import adapt_methods, compute_buffers, int8_weights
from weebill.generation.quantizable import linears, matrix_of, quantizable
from weebill.generation.weight_grids import BITS, WeightGrid, grid_of_bits
from weebill.hugging_face.families import prunable
from weebill.hugging_face.fit import check_layers
from weebill.hugging_face.folder import (
    SHAPES,
    WEIGHTS,
    check_class,
    check_readable,
    check_target,
    model_class,
    tie,
    written_folder,
)
from weebill.hugging_face.foreign_code import CONFIG, INT8_ADVICE, WEIGHTS_ENTRY
from weebill.hugging_face.loading import (
    INT8_METHOD,
    INT8_WEIGHTS,
    OLD_QUANTIZATION,
    QUANTIZATION,
    library_alone,
    read_config,
    read_generation_settings,
)
from weebill.kernels.extension import PORTABLE, check_instruction_set, extension, fastest
from weebill.kernels.int8_layers import CodedWeight, Int8Embedding, Int8Linear
from weebill.pruning.cut import cut_to, layer_shapes
from weebill.quantization.calibration import activation_scales, summary
from weebill.tensor_files import check_types, stored_types, types_of


def save_int8(
    model: PreTrainedModel,
    folder: str | Path,
    tokenizer: PreTrainedTokenizerBase | None = None,
    scales: Mapping[str, float] | None = None,
    entries: Mapping[str, Any] | None = None,
    bits: int = 8,
) -> None:
    """Write a float32 model that generates, whole or cut, as an int8 folder, atomically; the model is unchanged.

    scales: activation scales by linear map (see `calibrated_scales`), 127 / the largest expected magnitude; None:
    each token is quantized by its own largest magnitude.  entries: further entries of config.json.
    bits: bits of the weights, 8 or 4; activations are int8 in both.
    Raises InputError if `bits` is another number, if the model is of no family, is int8 already, cannot generate, or
    has NaN, infinite or no weights (`meta`), or if `folder` is the one that the model was read from, or holds
    something other than an earlier model.
    """
    grid, place = grid_of_bits(bits), Path(folder).resolve()
    check_class(folder, model)
    for source in {model.name_or_path, model.config.name_or_path} - {""}:
        if place.is_dir() and Path(source).is_dir() and place.samefile(source):
            raise InputError(f"{folder}: is the folder the model was read from; name another")
    if next(int8_weights(model), None) is not None:
        raise InputError(
            f"{folder}: the model is int8 already; copy its folder {model.name_or_path}"
        )
    check_target(folder, model, tokenizer)
    shapes = layer_shapes(prunable(model, "stored in int8"))
    if not model.can_generate():
        raise InputError(f"{folder}: {type(model).__name__} generates no text; save it in float32")
    _check_scales(model, scales)
    check_readable(folder, model)
    tensors = _unquantized(model)
    for name, module in _owners(model).values():
        try:
            parts = grid.stored(matrix_of(module))
        except ValueError as error:
            raise InputError(f"{folder}: {name}: {error}; the model has diverged") from error
        tensors |= {f"{name}.{part}": tensor for part, tensor in parts.items()}
    section = {
        "quant_method": INT8_METHOD,
        "grid": grid.name,
        "activation_scales": None if scales is None else dict(scales),
    }
    ours = {
        **(entries or {}),
        "architectures": [type(model).__name__],
        SHAPES: shapes,
        QUANTIZATION: section,
        WEIGHTS_ENTRY: INT8_ADVICE,
    }
    with written_folder(folder, tokenizer, ours, INT8_WEIGHTS) as partial:
        model.config.save_pretrained(partial)
        model.generation_config.save_pretrained(partial)
        save_file(tensors, partial / INT8_WEIGHTS, metadata={"format": "pt"})


def load_int8(folder: str | Path, isa: str | None = None) -> PreTrainedModel:
    """Read a folder of `save_int8` as a model of the library's own class, in evaluation mode, for its `generate`.

    Weights are never float32, and never held twice.

    Args:
        folder: a folder that `save_int8` wrote.
        isa: instruction set of the engine, or portable (PyTorch); None: the fastest here.

    Raises:
        InputError: if the folder is missing, damaged, or not int8, or the machine lacks the instruction set.

    """
    folder = Path(folder)
    config = read_config(folder)
    old, new = (config.pop(name, None) for name in (OLD_QUANTIZATION, QUANTIZATION))
    config.pop(WEIGHTS_ENTRY, None)
    section = new or old
    shapes = config.pop(SHAPES, None)
    name = section.get("grid") if isinstance(section, dict) else None
    grid = next((one for one in BITS.values() if one.name == name), None)
    if grid is None or shapes is None:
        raise InputError(f"{folder}: its weights are of no known grid; make it by `save_int8`")
    kind, isa = model_class(folder, config), isa or fastest()
    check_instruction_set(isa)
    if isa != PORTABLE:
        extension(isa)
    try:
        file = folder / (INT8_WEIGHTS if new else WEIGHTS)
        check_layers(config, len(stored_types(file)), folder / CONFIG)
        with library_alone():
            with torch.device("meta"), no_init_weights():
                model = kind(kind.config_class.from_dict(config))
            cut_to(prunable(model), shapes)
            _fill(model, file, grid, section["activation_scales"], isa)
            compute_buffers(model)
            make_fast(model, isa)
        read_generation_settings(model, folder)
    except (InputError, OSError, RuntimeError, SafetensorError, ValueError) as error:
        message = f"{folder}: damaged, or of another version ({error}); make it again"
        raise InputError(message) from error
    model.name_or_path = str(folder.resolve())  # so that nothing made from it replaces it
    adapt_methods(model)
    return model.eval()


def _fill(
    model: PreTrainedModel,
    file: Path,
    grid: WeightGrid,
    scales: Mapping[str, float] | None,
    isa: str,
) -> None:
    """Replace the layers of a model on `meta` by int8 layers, tied ones with one weight, and fill it from a file."""
    plain, stored = types_of(model.state_dict()), stored_types(file).keys()
    check_types(file, lambda name: grid.parts.get(name.rpartition(".")[2]) or plain(name))
    tie(model, {name.replace(".codes", ".weight") for name in stored})
    _check_scales(model, scales)
    owners, others = _owners(model), _unquantized(model).keys()
    wanted = others | {f"{name}.{part}" for name, _ in owners.values() for part in grid.parts}
    if wrong := wanted ^ stored:
        raise InputError(f"{file.name}: tensors missing or not expected: {sorted(wrong)}")

    def parts(name: str) -> dict[str, Tensor]:
        with safe_open(file, "pt") as opened:  # an open file keeps in memory what was read from it
            return {part: opened.get_tensor(f"{name}.{part}") for part in grid.parts}

    weights = {
        key: grid.loaded(parts(name), matrix_of(module).shape[1], isa)
        for key, (name, module) in owners.items()
    }
    for name, module in list(quantizable(model)):
        weight = weights[id(module.weight)]
        if isinstance(module, BartLearnedPositionalEmbedding):
            layer = Int8Positions(weight, module.offset)
        elif isinstance(module, nn.Embedding):
            layer = Int8Embedding(weight, getattr(module, "embed_scale", 1.0))
        else:
            layer = Int8Linear(weight, module.bias, None if scales is None else scales[name])
        model.set_submodule(name, layer)
    with safe_open(file, "pt") as opened:
        small = {name: opened.get_tensor(name).clone() for name in others}
    model.load_state_dict(small, assign=True)


def calibrated_scales(
    model: PreTrainedModel, run: Callable[[], object], formula: str
) -> dict[str, float]:
    """Return activation scales by linear map, from the inputs of a float32 model's maps while `run` uses it.

    formula: one of `quantization.calibration`.
    Raises InputError if the formula is unknown, or if a map was never called or saw NaN.
    """
    seen: dict[nn.Module, list[Tensor]] = {module: [] for module in linears(model).values()}

    def see(module: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        if module in seen:
            seen[module].append(arguments[0].detach().abs().amax())

    with register_module_forward_pre_hook(see):
        run()
    ranges = {name: summary(name, seen[module]) for name, module in linears(model).items()}
    return activation_scales(ranges, formula)


class Int8Positions(Int8Embedding):
    """Table of BART's learned positions, whose first rows belong to no position."""

    def __init__(self, weight: CodedWeight, offset: int):
        super().__init__(weight)
        self.offset = offset

    def forward(self, inputs: Tensor, past: int = 0, position_ids: Tensor | None = None) -> Tensor:
        """Return (b or 1, n, width) for inputs (b, n, …) at the positions after `past`, or at position_ids (n,)."""
        if position_ids is None:
            position_ids = torch.arange(past, past + inputs.shape[1])
        return super().forward(position_ids[None] + self.offset)


def _owners(model: nn.Module) -> dict[int, tuple[str, nn.Module]]:
    """Return the first module of each distinct weight with its name, by the weight's identity."""
    found: dict[int, tuple[str, nn.Module]] = {}
    for name, module in quantizable(model):
        found.setdefault(id(module.weight), (name, module))
    return found


def _unquantized(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors that are not int8, by name: float32 ones, and numbers of heads."""
    swapped = {f"{name}.weight" for name, _ in quantizable(model)}
    return {
        name: (value.float() if value.is_floating_point() else value).contiguous()
        for name, value in model.state_dict().items()
        if name not in swapped
    }


def _check_scales(model: nn.Module, scales: Mapping[str, float] | None) -> None:
    if scales is None:
        return
    if wrong := linears(model).keys() ^ scales.keys():
        message = f"activation scales and linear maps differ in {', '.join(sorted(wrong))}; calibrate this model"
        raise InputError(message)
    for name, scale in scales.items():
        if not 0 < scale < math.inf:
            raise InputError(
                f"the activation scale of {name} is {scale}, expected a positive number; calibrate this model"
            )
