"""Grids, calibration, fake quantization, packed weights: for any torch model, whatever its family.

`grids` maps numbers to codes, `packing` codes to bytes, `integer` multiplies them exactly, `weights` and
`modules` put them into a model, `calibration` finds the activations' scales, `finetuning` trains under
quantization, `files` describes a quantized model in its folder and prepares a network to load it.
"""

from goldcrest.quantization.calibration import ActivationRanges, record_ranges
from goldcrest.quantization.files import apply, merged, section, separated
from goldcrest.quantization.finetuning import fake_quantization
from goldcrest.quantization.grids import GRIDS, Grid, grid_named
from goldcrest.quantization.modules import pack_model, quantize_model

__all__ = [
    "GRIDS",
    "ActivationRanges",
    "Grid",
    "apply",
    "fake_quantization",
    "grid_named",
    "merged",
    "pack_model",
    "quantize_model",
    "record_ranges",
    "section",
    "separated",
]
