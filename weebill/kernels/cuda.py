"""What all models share on a GPU: settings of PyTorch, copies that nobody waits for, memory that is given back."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def avoid_slow_attention() -> None:
    """Let attention on GPUs do without cuDNN, which takes 40 ms to prepare each new shape; texts have many shapes."""
    torch.backends.cuda.enable_cudnn_sdp(False)


def set_gpu_defaults() -> None:
    """Let float32 products round their operands to TF32, and avoid slow attention, in this process."""
    torch.set_float32_matmul_precision("high")
    avoid_slow_attention()


def to_device(value: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor of the CPU to a device; from pinned memory to a GPU, so that the process does not wait."""
    if device.type == "cpu":
        return value
    return value.pin_memory().to(device, non_blocking=True)


def text_threads(device: torch.device) -> int:
    """Return how many threads divide sentences into pieces: beside a GPU PyTorch's, which idle, else 1."""
    return torch.get_num_threads() if device.type == "cuda" else 1


@contextmanager
def freed(device: str) -> Iterator[None]:
    """Give back what the work within the context leaves on a device, such as captured graphs, also after an error."""
    try:
        yield
    finally:
        gc.collect()
        if device.startswith("cuda"):
            torch.cuda.empty_cache()
