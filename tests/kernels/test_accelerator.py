"""Jobs that need more GPUs than there are: one line names the key and the remedy."""

import subprocess
import sys

import pytest
import torch

from weebill.errors import InputError
from weebill.kernels import accelerator
from weebill.kernels.accelerator import (
    check_accelerator,
    check_device,
    device_of,
    missing_gpus,
)
from weebill.kernels.cpu_matmul import training_precision
from weebill.translation.search import fastest_precision


@pytest.fixture
def cards(monkeypatch):
    """Return a function that sets how many GPUs PyTorch finds."""
    return lambda count: monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


def test_a_cpu_needs_no_gpu(cards):
    cards(0)
    assert device_of("cpu") == "cpu"
    assert missing_gpus("cpu", 4) == []


def test_a_job_has_the_gpus_that_it_needs(cards):
    cards(2)
    assert device_of("gpu") == "cuda"
    check_accelerator("gpu", 2)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (
            0,
            r"hardware\.accelerator: found gpu, but PyTorch finds no GPU on this machine; set it to",
        ),
        (3, r"hardware\.devices: found 4, but this machine has 3 for a job; set it to at most 3$"),
    ],
)
def test_missing_gpus_are_one_line(cards, count, message):
    cards(count)
    with pytest.raises(InputError, match=message) as caught:
        check_accelerator("gpu", 4)
    assert missing_gpus("gpu", 4) == [str(caught.value)]


def test_a_card_too_old_for_pytorch_is_no_device(monkeypatch):
    """PyTorch makes empty tensors there; its first kernel fails, as on a V100 by a build for CUDA 13."""

    def fail(*_, **__):
        raise RuntimeError("CUDA error: no kernel image is available\nCUDA kernel errors might …")

    monkeypatch.setattr(torch, "empty", lambda *_, **__: None)
    monkeypatch.setattr(torch, "ones", fail)
    message = (
        r"^device cuda:1: not available here; use cpu \(CUDA error: no kernel image is available\)$"
    )
    with pytest.raises(InputError, match=message):
        check_device("cuda:1")


def test_a_scheduler_without_pytorch_leaves_the_question_to_its_jobs(cards, monkeypatch):
    cards(0)
    monkeypatch.setattr(accelerator, "find_spec", lambda name: None)
    assert missing_gpus("gpu") == []


@pytest.mark.gpu
def test_a_gpu_is_found_without_starting_cuda():
    """A process that has started CUDA cannot fork jobs that use it."""
    code = (
        "import torch; from weebill.kernels.accelerator import device_of, missing_gpus\n"
        "assert device_of('gpu') == 'cuda' and missing_gpus('gpu') == []\n"
        "assert not torch.cuda.is_initialized() and not torch._C._cuda_isInBadFork()\n"
        "print(*missing_gpus('gpu', 99))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("hardware.devices: found 99, but this machine has ")


def test_a_rehearsal_takes_the_way_of_a_gpu_on_the_processor(cards):
    cards(0)
    assert missing_gpus("rehearsal", 4) == []
    device = device_of("rehearsal")
    assert torch.device(device).type == "cpu" and device != "cpu"
    assert training_precision("auto", "rehearsal") == fastest_precision(device) == "bfloat16"
