"""Settings of PyTorch that all work on a GPU shares."""

import torch


def set_gpu_defaults() -> None:
    """Let float32 products round their operands to TF32, and keep attention away from cuDNN; harmless on a CPU.

    cuDNN's attention prepares 40 ms for each new shape, and batches of text have many shapes; PyTorch's own kernels
    prepare nothing.
    """
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)
