"""Grids, calibration, fake quantization and packed weights for any torch model, whatever its family.

`grids` maps numbers to codes, `packing` maps codes to bytes, `integer` multiplies codes exactly, `weights` and
`modules` put them into a model, `calibration` finds the activations' scales, `finetuning` trains under
quantization, `files` describes a quantized model in its folder and prepares a network to load it.
"""

from weebill.quantization.calibration import ActivationRanges, record_ranges
from weebill.quantization.files import apply, merged, section, separated
from weebill.quantization.finetuning import fake_quantization
from weebill.quantization.grids import GRIDS, Grid, grid_named
from weebill.quantization.modules import pack_model, quantize_model

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
