"""Int8 models like BART, T5 and GPT-2 for the processor: a quarter of the size, on disk and in memory.

`save_int8` writes a folder of `hugging_face.folder`, with per-layer shapes.  Its config.json has a
`quantization_config` with a `quant_method` of our own.  Its int8.safetensors holds for each linear map and each
embedding `NAME.codes` (int8, a row for each output) and `NAME.scale` (float32, one per row), tied ones once; biases
and normalisations are float32.  Version 0.1.0 called the entry `quantization` and the file model.safetensors.

transformers must not read such a folder: it only warns about an unknown `quant_method`, and initialises all missing
weights at random.  Therefore `transformers_weights` of config.json, which it takes for a file name, contains the
remedy, and no file has the default name.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.initialization import no_init_weights
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.pytorch_utils import Conv1D

from weebill.errors import InputError
from weebill.files import atomic_folder, read_json, write_json
from weebill.generation.int8_decoding import make_fast
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import (
    SHAPES,
    WEIGHTS,
    check_no_source,
    check_weights,
    cut_to,
    folder_kind,
    layer_shapes,
    model_class,
    tie,
)
from weebill.hugging_face.loading import (
    INT8_ADVICE,
    INT8_METHOD,
    INT8_WEIGHTS,
    OLD_QUANTIZATION,
    QUANTIZATION,
    WEIGHTS_ENTRY,
    generation_settings,
    refuse_code,
)
from weebill.hugging_face.t5 import TABLE
from weebill.kernels.extension import PORTABLE, check_instruction_set, extension, fastest
from weebill.kernels.int8_layers import Int8Embedding, Int8Linear, Int8Weight
from weebill.quantization.calibration import activation_scales, summary
from weebill.quantization.grids import grid_named
from weebill.replaceable import check_replaceable
from weebill.tensor_files import FLOAT, check_types, types_of

GRID = "int8_rowwise"


def save_int8(
    model: PreTrainedModel,
    folder: str | Path,
    tokenizer: PreTrainedTokenizerBase | None = None,
    scales: Mapping[str, float] | None = None,
    entries: Mapping[str, Any] | None = None,
) -> None:
    """Write a float32 model that generates, whole or cut, as an int8 folder, atomically; the model is unchanged.

    A model trained with `int8_rowwise` rounding (its weights are on the grid) keeps its numbers.
    scales: activation scales by linear map (see `calibrated_scales`), 127 / the largest expected magnitude; None:
    each token is quantized by its own largest magnitude.  entries: further entries of config.json.
    Raises InputError if the model is of no family, cannot generate, or has NaN, infinite or no weights (`meta`),
    or if `folder` is the one that the model was read from, or holds something other than an earlier model.
    """
    kind = folder_kind(tokenizer)
    check_no_source(folder, model)
    check_replaceable(folder, kind)
    shapes = layer_shapes(prunable(model))
    check_weights(folder, model)
    if not model.can_generate() or getattr(transformers, type(model).__name__, None) is None:
        raise InputError(f"{folder}: {type(model).__name__} generates no text; save it in float32")
    _check_scales(model, scales)
    tensors: dict[str, Tensor] = {}
    for name, module in _owners(model).values():
        try:
            codes, scale = grid_named(GRID).quantize(_matrix(module).detach().float())
        except ValueError as error:
            raise InputError(f"{folder}: {name}: {error}; the model has diverged") from error
        tensors |= {f"{name}.codes": codes.contiguous(), f"{name}.scale": scale.flatten()}
    tensors |= _unquantized(model)
    section = {
        "quant_method": INT8_METHOD,
        "grid": GRID,
        "activation_scales": None if scales is None else dict(scales),
    }
    with atomic_folder(folder, kind) as partial:
        model.config.save_pretrained(partial)
        model.generation_config.save_pretrained(partial)
        config = read_json(partial / "config.json")
        config |= {
            **(entries or {}),
            "architectures": [type(model).__name__],
            SHAPES: shapes,
            QUANTIZATION: section,
            WEIGHTS_ENTRY: INT8_ADVICE,
        }
        write_json(partial / "config.json", config)
        save_file(tensors, partial / INT8_WEIGHTS, metadata={"format": "pt"})
        (partial / INT8_WEIGHTS).chmod(0o644)  # safetensors makes it readable by the owner alone
        if tokenizer is not None:
            tokenizer.save_pretrained(partial)


def int8_bytes(model: PreTrainedModel) -> int:
    """Count the bytes of all tensors that `save_int8` would write, also for a model on `meta`, without weights."""
    parts = _owners(model).values()
    quantized = sum(module.weight.numel() + 4 * len(_matrix(module)) for _, module in parts)
    return quantized + sum(value.nbytes for value in _unquantized(model).values())


def load_int8(folder: str | Path, isa: str | None = None) -> PreTrainedModel:
    """Read a folder of `save_int8` as a model of the library's own class, in evaluation mode, for its `generate`.

    isa: one of `kernels.extension`, or portable; None: the fastest here.  Weights are never float32, nor held twice.
    Raises InputError if the folder is missing, damaged, or not int8, or the machine lacks the instruction set.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: not a model folder (no config.json); name one with a model")
    refuse_code(folder, types=False)
    config = read_json(folder / "config.json")
    old, new = (config.pop(name, None) for name in (OLD_QUANTIZATION, QUANTIZATION))
    config.pop(WEIGHTS_ENTRY, None)
    section = new or old
    shapes = config.pop(SHAPES, None)
    if not isinstance(section, dict) or section.get("grid") != GRID or shapes is None:
        raise InputError(f"{folder}: its weights are not in {GRID}; make it by `save_int8`")
    kind, isa = model_class(folder, config), isa or fastest()
    check_instruction_set(isa)
    if isa != PORTABLE:
        extension(isa)
    with torch.device("meta"), no_init_weights():
        model = kind(kind.config_class.from_dict(config))
    try:
        cut_to(prunable(model), shapes)
        stored = _Stored(folder / (INT8_WEIGHTS if new else WEIGHTS))
        check_types(stored.path, _type_in(model))
        tie(model, {name.replace(".codes", ".weight") for name in stored.names})
        quantize_layers(
            model, lambda name, _: stored.weight(name, isa), section["activation_scales"]
        )
        _fill(model, stored)
        make_fast(model, isa)
    except (InputError, OSError, SafetensorError) as error:
        raise InputError(
            f"{folder}: damaged, or of another version ({error}); make it again"
        ) from error
    if (folder / "generation_config.json").is_file():
        model.generation_config = generation_settings(folder)
    model.name_or_path = str(folder.resolve())  # so that nothing made from it replaces it
    return model.eval()


def calibrated_scales(
    model: PreTrainedModel, run: Callable[[], object], formula: str
) -> dict[str, float]:
    """Return activation scales by linear map, from the inputs of a float32 model's maps while `run` uses it.

    formula: one of `quantization.calibration`.  Raises InputError if there is none of that name, or a map was
    never called or was given NaN.
    """
    with ExitStack() as stack:
        seen: dict[str, list[Tensor]] = {}
        for name, module in _linears(model):
            seen[name] = []

            def see(_module, arguments, maxima=seen[name]):
                maxima.append(arguments[0].detach().abs().amax())

            stack.callback(module.register_forward_pre_hook(see).remove)
        run()
    return activation_scales(
        {name: summary(name, maxima) for name, maxima in seen.items()}, formula
    )


class Int8Positions(Int8Embedding):
    """Table of BART's learned positions, whose first rows belong to no position."""

    def __init__(self, weight: Int8Weight, offset: int):
        super().__init__(weight)
        self.offset = offset

    def forward(self, inputs: Tensor, past: int = 0, position_ids: Tensor | None = None) -> Tensor:
        """Return (b or 1, n, width) for inputs (b, n, …) at the positions after `past`, or at position_ids (n,)."""
        if position_ids is None:
            position_ids = torch.arange(past, past + inputs.shape[1])
        return super().forward(position_ids[None] + self.offset)


def quantize_layers(
    model: PreTrainedModel,
    weight_of: Callable[[str, nn.Module], Int8Weight],
    scales: Mapping[str, float] | None = None,
) -> None:
    """Replace every linear map and embedding with its int8 form, in place; tied ones share one weight.

    weight_of: makes the weight from its first module's name and that module.  scales: see `save_int8`.
    """
    _check_scales(model, scales)
    weights = {key: weight_of(name, module) for key, (name, module) in _owners(model).items()}
    for name, module in list(quantizable(model)):
        weight = weights[id(module.weight)]
        model.set_submodule(
            name, _int8_form(module, weight, None if scales is None else scales.get(name))
        )


def _int8_form(module: nn.Module, weight: Int8Weight, scale: float | None) -> nn.Module:
    if isinstance(module, BartLearnedPositionalEmbedding):
        return Int8Positions(weight, module.offset)
    if isinstance(module, nn.Embedding):
        return Int8Embedding(weight, getattr(module, "embed_scale", 1.0))
    return Int8Linear(weight, module.bias, scale)


def quantizable(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the modules with a weight to quantize, and their names.

    Modules that pruning left empty, computed weights, and T5's biases of attention scores stay float32.
    """
    for name, module in model.named_modules():
        if isinstance(module, MarianSinusoidalPositionalEmbedding) or name.endswith(TABLE):
            continue
        if isinstance(module, nn.Linear | Conv1D | nn.Embedding) and module.weight.numel():
            yield name, module


def _linears(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    for name, module in quantizable(model):
        if not isinstance(module, nn.Embedding):
            yield name, module


def _owners(model: nn.Module) -> dict[int, tuple[str, nn.Module]]:
    """Return the first module of each distinct weight with its name, by the weight's identity."""
    found: dict[int, tuple[str, nn.Module]] = {}
    for name, module in quantizable(model):
        found.setdefault(id(module.weight), (name, module))
    return found


def _matrix(module: nn.Module) -> Tensor:
    """Return the weight as (outputs, inputs), an embedding's as (pieces, width)."""
    return module.weight.t() if isinstance(module, Conv1D) else module.weight


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
    names = {name for name, _ in _linears(model)}
    if names != set(scales):
        other = ", ".join(sorted(names ^ set(scales)))
        raise InputError(
            f"activation scales and linear maps differ in {other}; calibrate this model"
        )


def _type_in(model: nn.Module) -> Callable[[str], tuple[str, ...]]:
    """Return `expected` of `check_types` for the int8 file of a model that is not quantized yet."""
    plain = types_of(model.state_dict())
    ends = {"codes": ("I8",), "scale": (FLOAT,)}
    return lambda name: ends.get(name.rpartition(".")[2]) or plain(name)


class _Stored:
    """File of tensors, which reads one tensor at a time into memory."""

    def __init__(self, path: Path):
        self.path = path
        with safe_open(path, "pt") as file:
            self.names = set(file.keys())
        self.quantized: set[str] = set()  # names that were read as codes and scales

    def tensor(self, name: str) -> Tensor:
        """Read a tensor.  Raises InputError if it is missing."""
        if name not in self.names:
            raise InputError(f"{self.path.name}: no tensor {name}")
        with safe_open(
            self.path, "pt"
        ) as file:  # opened anew: an open file keeps everything read so far in memory
            return file.get_tensor(name)

    def weight(self, name: str, isa: str) -> Int8Weight:
        parts = f"{name}.codes", f"{name}.scale"
        self.quantized |= {*parts}
        return Int8Weight(*map(self.tensor, parts), isa)


def _fill(model: nn.Module, stored: _Stored) -> None:
    """Load all tensors that stayed float32."""
    wanted = model.state_dict()
    if wrong := wanted.keys() ^ (stored.names - stored.quantized):
        raise InputError(f"{stored.path.name}: tensors missing or not expected: {sorted(wrong)}")
    model.load_state_dict({name: stored.tensor(name).clone() for name in wanted}, assign=True)
