"""Division of a product's rows among threads; the compiled kernels work in the thread that calls them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

ROWS_OF_A_THREAD = 64  # at least: fewer rows are multiplied before another thread has begun


def by_threads(multiply: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return multiply(x) for rows x (n, inputs), by as many threads as PyTorch uses if there are rows enough."""
    threads = min(torch.get_num_threads(), len(x) // ROWS_OF_A_THREAD)
    if threads < 2:
        return multiply(x)
    return torch.cat(list(_threads(threads).map(multiply, x.chunk(threads))))


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    """Return a pool of `count` threads; it is kept, because the kernels keep their memory by thread."""
    return ThreadPoolExecutor(count)
