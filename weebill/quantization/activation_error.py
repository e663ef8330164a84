"""Cost of static activation scales: the squared error that they leave in each linear map's input."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.quantization.grids.int8 import INT8_LIMIT, fake_quantize_activations
from weebill.quantization.modules import inputs_watched, quantizable_linears


@dataclass(frozen=True)
class ActivationError:
    """Error over all inputs of one linear map, quantized by one formula's scale."""

    map: str  # its name
    activation_scale: str  # the formula's name
    values: int
    clipped: int  # beyond ±127 / scale
    squares: float  # Σ x²
    squared_error: float  # Σ (x − quantized x)²

    @property
    def relative(self) -> float:
        """Squared error divided by the squares; 0 if every input was zero."""
        return self.squared_error / self.squares if self.squares else 0.0


def measure_errors(
    model: nn.Module,
    run: Callable[[], object],
    scales: Mapping[str, Mapping[str, float]],
) -> list[ActivationError]:
    """Run a float32 model and quantize a copy of every linear map's input by each formula's scale.

    run: does the work, on other text than that of the calibration.  The model continues with the unquantized
    input, so that an error is the scale's own and not an earlier layer's.  scales: formula → linear map → scale.
    Raises ValueError where a formula has no scale for a map.
    """
    totals: dict[tuple[str, str], Tensor] = {}
    for name, _ in quantizable_linears(model):
        for formula, by_map in scales.items():
            if name not in by_map:
                raise ValueError(f"no activation scale for {name}; calibrate this model")
            totals[name, formula] = torch.zeros(4, dtype=torch.float64)

    def add(name: str, x: Tensor) -> None:
        squares = x.double().square().sum()
        for formula, by_map in scales.items():
            scale = torch.tensor(by_map[name])
            error = (fake_quantize_activations(x, scale) - x).double().square().sum()
            clipped = (x.abs() * scale > INT8_LIMIT).sum()
            values = torch.tensor(x.numel())
            totals[name, formula] += torch.stack([values, clipped, squares, error])

    with inputs_watched(model, add):
        run()
    return [
        ActivationError(name, formula, int(values), int(clipped), float(squares), float(error))
        for (name, formula), (values, clipped, squares, error) in totals.items()
    ]


def save_errors(path: str | Path, errors: Sequence[ActivationError]) -> None:
    """Write errors as JSON, atomically."""
    write_json(path, [asdict(error) for error in errors])


def load_errors(path: str | Path) -> list[ActivationError]:
    """Read what `save_errors` wrote.  Raises InputError where the file is no such JSON."""
    try:
        return [ActivationError(**row) for row in read_json(path)]
    except TypeError as error:
        raise InputError(f"{path}: not activation errors ({error}); measure them again") from error
