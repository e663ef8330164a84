"""Precisions, the last part of a variant's name: `float32`, GRID, GRID-finetuned, GRID-FORMULA and GRID-biases.

GRID-FORMULA is the grid without fine-tuning, with the formula of activation scales that `activation_scale` does not
name.  GRID-biases is the grid without fine-tuning, with biases rounded to it too.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Names of grids and of their classes, which import PyTorch: every start of the workflow imports this module, so the
# classes themselves are not imported here.
INTEGER_GRIDS = {
    "int8": "weebill.quantization.grids.int8:Int8",
    "int8_rowwise": "weebill.quantization.grids.int8_rowwise:Int8Rowwise",
}
GRIDS = {**INTEGER_GRIDS, "log4": "weebill.quantization.grids.log4:Log4"}
ACTIVATION_SCALES = ("mean-of-maxima", "mean-of-scales")

_FORMULAS = tuple(f"{grid}-{formula}" for grid in INTEGER_GRIDS for formula in ACTIVATION_SCALES)
BIASES = "biases"
UNTUNED = (*GRIDS, *_FORMULAS, f"log4-{BIASES}")
PRECISIONS = ("float32", *UNTUNED, *(f"{grid}-finetuned" for grid in GRIDS))


class Precision(NamedTuple):
    """Way to make a precision below float32; `activation_scale` None leaves activations in float32."""

    grid: str
    activation_scale: str | None
    finetuned: bool = False
    biases: bool = False  # rounded to the grid, as weights are


def grid_of(name: str) -> str:
    """Return the grid that a precision's name begins with; `float32` for float32."""
    return name.partition("-")[0]


def quantized(section: Mapping[str, Any]) -> dict[str, Precision]:
    """Return the precisions that a configuration's section `quantization` makes, by name, in the tables' order."""
    found: dict[str, Precision] = {}
    for grid, settings in ((grid, section[grid]) for grid in GRIDS if grid in section):
        formula = settings.get("activation_scale")
        found[grid] = Precision(grid, formula)
        if settings.get("compare_activation_scales"):
            others = [other for other in ACTIVATION_SCALES if other != formula]
            found |= {f"{grid}-{other}": Precision(grid, other) for other in others}
        if settings.get("compare_biases"):
            found[f"{grid}-{BIASES}"] = Precision(grid, formula, biases=True)
        if "finetune" in settings:
            found[f"{grid}-finetuned"] = Precision(grid, formula, finetuned=True)
    return found
