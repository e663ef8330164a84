"""Peaks of a device: matrix products of random numbers, and copies in its memory."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from weebill.benchmarks.gpu_figures import figure
from weebill.benchmarks.gpu_workload import seconds
from weebill.evaluation.timing.timer import in_turn

CALLS = 20  # calls in one round
WARM = 3  # warm-up rounds, which do not count: clocks rise, libraries choose kernels


def measure(device: str, rounds: int, size: int, mib: int) -> Iterator[dict[str, Any]]:
    """Yield operations per second of products (size × size) in bfloat16 and float32, and bytes per second of a copy.

    float32 products round their operands to TF32, as in trainings.  mib: MiB of the copied array.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    works, amounts = {}, {}
    for dtype in (torch.bfloat16, torch.float32):
        left, right = torch.randn(2, size, size, device=device).to(dtype)
        out = torch.empty_like(left)
        name = str(dtype).removeprefix("torch.")
        works[name] = partial(torch.mm, left, right, out=out)
        amounts[name] = 2.0 * size**3
    array = torch.randn(mib * 2**18, device=device)
    works["copy"] = partial(torch.empty_like(array).copy_, array)
    amounts["copy"] = 2.0 * array.nbytes  # read and written

    def rate(name: str) -> float:
        def repeated() -> None:
            for _ in range(CALLS):
                works[name]()

        return CALLS * amounts[name] / seconds(repeated, device)

    try:
        found = in_turn({name: partial(rate, name) for name in works}, rounds, uncounted=WARM)
    finally:
        torch.set_float32_matmul_precision(before)
    for name, rates in found.items():
        if name == "copy":
            yield figure("peak", f"copy of {mib} MiB", "GB/s", [rate / 1e9 for rate in rates])
        else:
            shown = [rate / 1e12 for rate in rates]
            title = f"matrix product {size}, {name}"
            yield figure("peak", title, "TFLOP/s", shown, precision=name)
