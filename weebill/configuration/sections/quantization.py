"""Settings of the precisions below float32: a key for each grid; the grid's module defines its settings."""

from dataclasses import field, make_dataclass

from weebill.quantization.grids import GRIDS
from weebill.settings import Count, section


@section
class Calibration:
    """Settings of all grids together."""

    calibration_sentences: Count = 1000
    """Number of training sentences that are translated to find the ranges of activations, drawn at random from all
    text that the student learns."""


Quantization = make_dataclass(
    "Quantization",
    [
        (name, grid.settings | None, field(default=None, metadata={"sentence": grid.sentence}))
        for name, grid in GRIDS.items()
    ],
    bases=(Calibration,),
    namespace={"__doc__": "Precisions below float32.", "__module__": __name__},
    frozen=True,
    kw_only=True,
)
