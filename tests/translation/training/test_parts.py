"""Trainings record their passes if that is faster, and prepare batches for a GPU."""

from dataclasses import replace

import pytest

from tests.translation.conftest import small_architecture
from weebill.kernels.graphs import GraphRecorder
from weebill.translation.training.parts import task_and_stream
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.trainer import new_network

CONFIG = TrainingConfig(batch_tokens=300)
GPU = Hardware("gpu")


@pytest.mark.parametrize(
    ("config", "hardware", "records", "expected"),
    [
        (CONFIG, GPU, True, True),
        (CONFIG, GPU, False, False),  # passes vary
        (CONFIG, Hardware("cpu"), True, False),
        (CONFIG, Hardware("gpu", devices=2), True, False),
        (replace(CONFIG, cuda_graphs=False), GPU, True, False),
        (replace(CONFIG, guided_alignment=0.1), GPU, True, False),
        (replace(CONFIG, batch_tokens=10**9), GPU, True, False),  # a GPU is busy without
    ],
)
def test_small_passes_that_repeat_are_recorded_on_one_card(config, hardware, records, expected):
    network = new_network(small_architecture(40), 1).eval()
    task, stream = task_and_stream(network, None, config, hardware, 1, records=records)
    assert task.recorder is (GraphRecorder if expected else None)
    assert stream.repeating == expected, "batches are padded for graphs, and only for them"
    assert stream.pinned == (hardware.accelerator == "gpu")
    assert network.training
