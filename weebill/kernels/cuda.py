"""What all models share on a GPU: kernels of attention that need no search, and copies that nobody waits for."""

import torch
from torch import Tensor


def avoid_slow_attention() -> None:
    """Let attention on GPUs do without cuDNN, which takes 40 ms to prepare each new shape; texts have many shapes."""
    torch.backends.cuda.enable_cudnn_sdp(False)


def to_device(value: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor of the CPU to a device; from pinned memory to a GPU, so that the process does not wait."""
    if device.type == "cpu":
        return value
    return value.pin_memory().to(device, non_blocking=True)
