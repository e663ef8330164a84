"""Accelerator of an experiment: the device of a job, and one clear line if there is no GPU for it."""

import re
from importlib.util import find_spec

from weebill.errors import InputError, first_line

REHEARSAL = "rehearsal"  # a GPU's code and types of numbers, on a processor
# PyTorch's other name of the processor, for which code takes the path of a GPU.
REHEARSED_DEVICE = "cpu:0"


def missing_gpus(accelerator: str, devices: int = 1) -> list[str]:
    """Return a line if the accelerator is `gpu` and this machine lacks GPUs for a job, otherwise an empty list.

    accelerator, devices: the keys of `hardware`.  Without PyTorch, in a process that only schedules jobs, the jobs
    themselves look for their GPUs.
    """
    if accelerator != "gpu" or find_spec("torch") is None:
        return []
    # Unlike is_available, this does not initialise CUDA, which forked processes could not use afterwards.
    from torch.cuda import device_count

    count = device_count()
    if not count:
        return [
            "hardware.accelerator: found gpu, but PyTorch finds no GPU on this machine; set it to cpu, or install a "
            "driver and a PyTorch that fit each other (CUDA_VISIBLE_DEVICES may hide GPUs)"
        ]
    if count < devices:
        return [
            f"hardware.devices: found {devices}, but this machine has {count} for a job; set it to at most {count}"
        ]
    return []


def device_of(accelerator: str) -> str:
    """Return PyTorch's name of the device of `hardware.accelerator`.  Raises InputError if there is no GPU for it."""
    check_accelerator(accelerator)
    return {"gpu": "cuda", REHEARSAL: REHEARSED_DEVICE}.get(accelerator, "cpu")


def check_accelerator(accelerator: str, devices: int = 1) -> None:
    """Raise InputError if this machine lacks the GPUs of a job."""
    if lines := missing_gpus(accelerator, devices):
        raise InputError(lines[0])


def check_device(name: str) -> None:
    """Raise InputError if PyTorch has no such device here, or models do not run on it."""
    if name == "cpu":
        return
    import torch

    # torch knows more devices, on which these models do not run.
    if not re.fullmatch(r"cpu(:0)?|cuda(:\d+)?", name):
        raise InputError(f"device {name}: not for models; use cpu, cuda, cuda:1, …")
    try:
        float(torch.ones(1, device=name))  # PyTorch may lack kernels for a card that it finds
    except (RuntimeError, AssertionError) as error:
        reason = first_line(error)
        raise InputError(f"device {name}: not available here; use cpu ({reason})") from error
