"""Static activation scales from what a model's linear maps see while it works on calibration data."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from torch import Tensor, nn

from weebill.errors import InputError, nearest
from weebill.files import read_json, write_json
from weebill.quantization.grids import INT8_LIMIT
from weebill.quantization.modules import inputs_watched, quantizable_linears

DEVIATIONS = 1.1  # standard deviations added to the mean (WNGT20 §5.1)


@dataclass(frozen=True)
class ActivationRanges:
    """What was seen of the tensor that feeds one linear map.

    instances: number of calls with a non-zero input, and of those max|A_i| and the scale 127 / max|A_i|:
    mean and standard deviation (of the population, as the published script takes it).
    """

    instances: int
    mean_maximum: float
    std_maximum: float
    mean_scale: float
    std_scale: float

    @classmethod
    def of(cls, maxima: Sequence[float]) -> "ActivationRanges":
        """The summary of max|A_i| of every instance; an all-zero instance says nothing and is left out."""
        values = np.asarray(maxima, dtype=np.float64)
        values = values[values > 0]
        if not values.size:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        scales = INT8_LIMIT / values
        return cls(
            len(values), *map(float, (values.mean(), values.std(), scales.mean(), scales.std()))
        )


def mean_of_scales(ranges: ActivationRanges) -> float:
    """mean(127 / max|A_i|) + 1.1·std(127 / max|A_i|), as the papers print it (WNGT20 §5.1, WMT21 §3.2)."""
    return ranges.mean_scale + DEVIATIONS * ranges.std_scale


def mean_of_maxima(ranges: ActivationRanges) -> float:
    """127 / (mean(max|A_i|) + 1.1·std(max|A_i|)), as the published script computes it; clips less."""
    return INT8_LIMIT / (ranges.mean_maximum + DEVIATIONS * ranges.std_maximum)


FORMULAS: dict[str, Callable[[ActivationRanges], float]] = {
    "mean-of-scales": mean_of_scales,
    "mean-of-maxima": mean_of_maxima,
}


def activation_scales(ranges: Mapping[str, ActivationRanges], formula: str) -> dict[str, float]:
    """Each linear map's activation scale; an input that was always zero gets 1.

    Raises InputError where no formula has this name.
    """
    if formula not in FORMULAS:
        raise InputError(f"no activation scale '{formula}'{nearest(formula, FORMULAS)}")
    scale = FORMULAS[formula]
    return {name: scale(seen) if seen.instances else 1.0 for name, seen in ranges.items()}


def record_ranges(
    model: nn.Module, run: Callable[[], object], skip: Sequence[str] = ()
) -> dict[str, ActivationRanges]:
    """Run a float32 model over calibration data and summarise what each of its linear maps was given.

    run: does the work, e.g. translates sentences greedily; each call of a linear map, for a batch of sentences
    or one decoding step of it, is an instance of its activation tensor.  Padded positions count like others: a
    linear map is not told of them, and they hold embedded EOS like the end of each sentence.
    skip: as in `quantize_model`.  Raises InputError naming a map that was never called or saw NaN or infinity.
    """
    seen: dict[str, list[Tensor]] = {name: [] for name, _ in quantizable_linears(model, skip)}

    def record(name: str, x: Tensor) -> None:
        if x.numel():
            seen[name].append(x.abs().amax())

    with inputs_watched(model, record, skip):
        run()
    return {name: summary(name, maxima) for name, maxima in seen.items()}


def summary(name: str, maxima: Sequence[Tensor]) -> ActivationRanges:
    """Of max|A_i| of every instance of what a linear map of that name was given; raises as `record_ranges` does."""
    values = [float(value) for value in maxima]
    if not values:
        raise InputError(f"{name} was never used on the calibration data; give it more sentences")
    if not all(map(math.isfinite, values)):
        raise InputError(f"{name} was given NaN or infinity in calibration; the model has diverged")
    return ActivationRanges.of(values)


def save_ranges(path: str | Path, ranges: Mapping[str, ActivationRanges]) -> None:
    """Write ranges as JSON, atomically."""
    write_json(path, {name: asdict(seen) for name, seen in ranges.items()})


def load_ranges(path: str | Path) -> dict[str, ActivationRanges]:
    """The inverse of `save_ranges`.  Raises InputError where the file is no such JSON."""
    try:
        return {name: ActivationRanges(**seen) for name, seen in read_json(path).items()}
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: not activation ranges ({error}); calibrate again") from error


def load_scales(path: str | Path, formula: str) -> dict[str, float]:
    """Activation scales by a formula's name from a file of ranges.  Raises InputError as its parts do."""
    return activation_scales(load_ranges(path), formula)
