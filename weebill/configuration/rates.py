"""Rates of hardware: operations per second in training and search; a multiplication plus an addition counts as two.

The rates of a CPU thread were measured on Multi30k (docs/results/multi30k.md), on a processor with AMX; one with only
AVX2 has the float32 rates.  `weebill benchmark gpu --rates` measures the rates of a GPU and writes them to a file
beside this module; without this file they are assumed.
"""

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from weebill.files import read_json
from weebill_runtime import engines

MEASURED = Path(__file__).with_name("gpu_rates.json")
DEVICES = {"cpu": "CPU thread", "gpu": "GPU"}
SIMPLE = {
    "cpu": {"float32": 5e10, "bfloat16": 1e11, "search": 6e10},
    "gpu": {"float32": 1e13, "bfloat16": 5e13, "search": 1e13},  # assumed, as for an A100
}
LEAST_BATCH_SECONDS = {"cpu": 0.0, "gpu": 0.05}  # to launch a small network's kernels; assumed
AUTO = {"cpu": "float32", "gpu": "bfloat16"}


class Rates(NamedTuple):
    """Rates of one device (`threads` CPU threads, or a GPU) and the measured figures of GPUs, if there are any.

    bfloat16: True if the device multiplies bfloat16 numbers; otherwise trainings in bfloat16 have float32 rates.
    """

    device: str
    threads: int
    measured: Mapping[str, Any] | None
    bfloat16: bool = True

    @classmethod
    def of(cls, hardware: Mapping[str, Any]) -> "Rates":
        """Return the rates of one device of a configuration's hardware, if CPUs are like this machine's."""
        if hardware["accelerator"] == "gpu":
            return cls("gpu", 1, _measured())
        bfloat16 = any(map(engines.has_bfloat16, engines.available()))
        return cls("cpu", hardware["threads"], None, bfloat16)

    def training(self, precision: str, weights: float, positions: float) -> float:
        """Return the operations per second of training a network; positions: source and target pieces of a batch."""
        kind = AUTO[self.device] if precision == "auto" else precision
        kind = "bfloat16" if kind != "float32" and self.bfloat16 else "float32"
        if self.measured is None:
            return self.threads * SIMPLE[self.device][kind]
        sizes: dict[float, list[tuple[float, float]]] = {}
        for row in self.measured["training"]:
            sizes.setdefault(row["weights"], []).append((row["positions"], row["operations"]))
        points = [(size, between(found, positions)) for size, found in sizes.items()]
        return between(points, weights) * (self.measured["float32"] if kind == "float32" else 1.0)

    def search(self, weights: float, beam: int = 1) -> float:
        """Return the operations per second of translating with a network; all hypotheses of a beam count."""
        if self.measured is None:
            return self.threads * SIMPLE[self.device]["search"]
        rows = self.measured["decoding"]
        nearest = min({row["beam"] for row in rows}, key=lambda one: abs(math.log(one / beam)))
        points: dict[float, float] = {}
        for row in rows:  # the fastest batch of each size
            if row["beam"] == nearest:
                points[row["weights"]] = max(points.get(row["weights"], 0.0), row["operations"])
        return between(list(points.items()), weights)

    @property
    def least(self) -> float:
        """Shortest time of a batch in training, in seconds; measured rates contain it."""
        return 0.0 if self.measured else LEAST_BATCH_SECONDS[self.device]

    def told(self) -> str:
        """Return the rates and their origin in one line."""
        if self.measured is not None:
            trained, found = (
                [row["operations"] / 1e9 for row in self.measured[part]]
                for part in ("training", "decoding")
            )
            greedy = {row["beam"] for row in self.measured["decoding"]} == {1}
            beams = " of greedy search, which beams are assumed to reach too" if greedy else ""
            origin = f"rates of one {self.measured['card']}, measured on {self.measured['date']}"
            return (
                f"{origin} by `weebill benchmark gpu`, in billion operations a second by size, batch and beam: "
                f"training {min(trained):,.0f} to {max(trained):,.0f} in bfloat16, "
                f"translation {min(found):,.0f} to {max(found):,.0f}{beams}"
            )
        rates = SIMPLE[self.device]
        origin = {
            "cpu": "rates of a CPU thread",
            "gpu": "assumed rates of a GPU such as an A100",
        }[self.device]
        trained = f"{rates['float32'] / 1e9:,.0f} in float32"
        if self.bfloat16:
            trained += f" and {rates['bfloat16'] / 1e9:,.0f} in bfloat16"
        else:
            trained += ", which also trainings in bfloat16 take on this processor"
        return (
            f"{origin}, in billion operations a second: training {trained}, "
            f"translation {rates['search'] / 1e9:,.0f}"
        )


def between(points: Sequence[tuple[float, float]], place: float) -> float:
    """Interpolate rates between measured sizes, by logarithms of both.

    Below the smallest size, the rate falls in proportion to the size, because the host's time per call is constant.
    Above the largest size, the rate is constant.
    """
    ordered = sorted(points)
    sizes = [size for size, _ in ordered]
    after = bisect(sizes, place)
    if after == 0:
        return ordered[0][1] * place / sizes[0]
    if after == len(ordered):
        return ordered[-1][1]
    (left, low), (right, high) = ordered[after - 1 : after + 1]
    share = math.log(place / left) / math.log(right / left)
    return low ** (1 - share) * high**share


@cache
def _measured() -> Mapping[str, Any] | None:
    """Return the measured rates of GPUs; None if the file is not there."""
    return read_json(MEASURED) if MEASURED.is_file() else None
