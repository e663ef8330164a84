"""Common needs of all models on a GPU: settings of PyTorch, copies without waiting, and release of memory."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def avoid_slow_attention() -> None:
    """Disable cuDNN's attention on GPUs: it takes 40 ms to prepare each new shape, and texts have many shapes."""
    torch.backends.cuda.enable_cudnn_sdp(False)


def set_gpu_defaults() -> None:
    """Let float32 products round their operands to TF32, and avoid slow attention, in this process."""
    torch.set_float32_matmul_precision("high")
    avoid_slow_attention()


def card_multiplies_bfloat16() -> bool:
    """Return True if there is a GPU that multiplies bfloat16; older ones emulate it, and compile no kernels."""
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)


def to_device(value: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor from the CPU to a device; for a GPU through pinned memory, so that the process does not wait."""
    if device.type == "cpu":
        return value
    return value.pin_memory().to(device, non_blocking=True)


def text_threads(device: torch.device) -> int:
    """Return the number of threads that divide sentences into pieces: PyTorch's, if a GPU lets them idle, else 1."""
    return torch.get_num_threads() if device.type == "cuda" else 1


@contextmanager
def freed(device: str) -> Iterator[None]:
    """Free the memory that work within the context leaves on a device, such as graphs, also after an error."""
    try:
        yield
    finally:
        gc.collect()
        if device.startswith("cuda"):
            torch.cuda.empty_cache()
