"""Static activation scales from the inputs of a model's linear maps, and the squared errors of these scales."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from weebill.errors import InputError, nearest
from weebill.files import read_json
from weebill.quantization.grids.int8 import INT8_LIMIT
from weebill.quantization.modules import inputs_watched, quantizable_linears
from weebill.quantization.weights import fake_quantize_activations

DEVIATIONS = 1.1  # standard deviations added to the mean (WNGT20 §5.1)


@dataclass(frozen=True)
class ActivationRanges:
    """Mean and standard deviation of max|A_i| and 127 / max|A_i| over the calls of a linear map with non-zero input.

    Deviations are population deviations, as in the published script.
    """

    instances: int
    mean_maximum: float
    std_maximum: float
    mean_scale: float
    std_scale: float

    @classmethod
    def of(cls, maxima: Sequence[float]) -> "ActivationRanges":
        """Summarise max|A_i| of all instances; an all-zero instance says nothing and is left out."""
        values = np.asarray(maxima, dtype=np.float64)
        values = values[values > 0]
        if not values.size:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        scales = INT8_LIMIT / values
        moments = values.mean(), values.std(), scales.mean(), scales.std()
        return cls(len(values), *map(float, moments))


def mean_of_scales(ranges: ActivationRanges) -> float:
    """Return mean(127 / max|A_i|) + 1.1·std(127 / max|A_i|), as the papers print it (WNGT20 §5.1, WMT21 §3.2)."""
    return ranges.mean_scale + DEVIATIONS * ranges.std_scale


def mean_of_maxima(ranges: ActivationRanges) -> float:
    """Return 127 / (mean(max|A_i|) + 1.1·std(max|A_i|)), as the published script computes it; it clips less."""
    return INT8_LIMIT / (ranges.mean_maximum + DEVIATIONS * ranges.std_maximum)


FORMULAS = {"mean-of-scales": mean_of_scales, "mean-of-maxima": mean_of_maxima}


def activation_scales(ranges: Mapping[str, ActivationRanges], formula: str) -> dict[str, float]:
    """Return each linear map's scale; 1 if its input was always zero.  Raises InputError for an unknown formula."""
    if formula not in FORMULAS:
        raise InputError(f"no activation scale '{formula}'{nearest(formula, FORMULAS)}")
    scale = FORMULAS[formula]
    return {name: scale(seen) if seen.instances else 1.0 for name, seen in ranges.items()}


def record_ranges(model: nn.Module, run: Callable[[], object]) -> dict[str, ActivationRanges]:
    """Run a float32 model over calibration data and summarise the inputs of each of its linear maps.

    run: does the work, e.g. translates sentences greedily.  Each call of a linear map is an instance of its
    activation tensor.  Padded positions count like others, because a linear map does not know them.
    Raises InputError naming a map that was never called or saw NaN or infinity.
    """
    seen: dict[str, list[Tensor]] = {name: [] for name, _ in quantizable_linears(model)}

    def record(name: str, x: Tensor) -> None:
        if x.numel():
            seen[name].append(x.abs().amax())

    with inputs_watched(model, record):
        run()
    return {name: summary(name, maxima) for name, maxima in seen.items()}


def summary(name: str, maxima: Sequence[Tensor]) -> ActivationRanges:
    """Summarise max|A_i| of all inputs of the linear map `name`; raise as `record_ranges` does."""
    if not maxima:
        raise InputError(f"{name} was never used on the calibration data; give it more sentences")
    values = [float(value) for value in maxima]
    if not np.isfinite(values).all():
        raise InputError(f"{name} was given NaN or infinity in calibration; the model has diverged")
    return ActivationRanges.of(values)


def load_ranges(path: str | Path) -> dict[str, ActivationRanges]:
    """Read ranges by name from JSON.  Raises InputError if the file does not contain ranges."""
    try:
        return {name: ActivationRanges(**seen) for name, seen in read_json(path).items()}
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: not activation ranges ({error}); calibrate again") from error


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
    model: nn.Module, run: Callable[[], object], scales: Mapping[str, Mapping[str, float]]
) -> list[ActivationError]:
    """Run a float32 model and quantize a copy of every linear map's input by each formula's scale.

    run: does the work, on text other than that of the calibration; the model continues with the unquantized input.
    scales: formula → linear map → scale.  Raises ValueError if a formula has no scale for a map.
    """
    totals: dict[tuple[str, str], Tensor] = {}
    for name, _ in quantizable_linears(model):
        if any(name not in by_map for by_map in scales.values()):
            raise ValueError(f"no activation scale for {name}; calibrate this model")
        totals |= {(name, formula): torch.zeros(4, dtype=torch.float64) for formula in scales}

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


def load_errors(path: str | Path) -> list[ActivationError]:
    """Read errors from JSON.  Raises InputError if the file does not contain errors."""
    try:
        return [ActivationError(**row) for row in read_json(path)]
    except TypeError as error:
        raise InputError(f"{path}: not activation errors ({error}); measure them again") from error
