"""Settings of the precisions below float32: a key for each grid; the grid's module defines its settings."""

from weebill.quantization.grids import GRIDS
from weebill.settings import Count, made_section, section


@section
class Calibration:
    """Settings of all grids together."""

    calibration_sentences: Count = 1000
    """Number of training sentences that are translated to find the ranges of activations, drawn at random from all
    text that the student learns."""


Quantization = made_section(
    "Quantization",
    "Precisions below float32.",
    [(name, grid.settings | None, None, grid.sentence) for name, grid in GRIDS.items()],
    bases=(Calibration,),
)
