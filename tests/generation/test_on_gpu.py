"""Generators on a GPU: trainings, perplexity, summaries and times, compared with those of the CPU."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.generation.small import FAST, STEPS, place
from weebill.evaluation.timing.generation_speed import measure_generation
from weebill.files import read_json
from weebill.generation.data import read_part
from weebill.generation.models import load_generator, summarize
from weebill.generation.perplexity import surprise
from weebill.generation.settings import Device, SearchSettings
from weebill.generation.steps import FineTune

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("whole_products")]
GPU = Device("gpu")


def losses(folder):
    """Return a training's validation losses."""
    course = read_json(folder / "config.json")["lineage"]["course"]
    return [entry["loss"] for entry in course["validations"]]


@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_a_training_ends_like_that_of_the_cpu(made, tmp_path, precision):
    step = FineTune(training=replace(FAST, precision=precision))
    found = []
    for device in (Device(), GPU):
        where = replace(place(made, tmp_path / device.accelerator), device=device)
        step.run(where)
        found.append(losses(where.output))
    print(precision, found)
    np.testing.assert_allclose(*found, rtol=0.05)  # dropout differs


@pytest.mark.parametrize("name", list(STEPS))
def test_every_step_runs(made, tmp_path, name):
    where = replace(place(made, tmp_path), device=GPU)
    STEPS[name].run(where)
    print(name, losses(where.output))
    assert np.isfinite(losses(where.output)).all()


def test_perplexity_is_that_of_the_cpu(made):
    folder, data = made["gpt2"]
    texts = [row["text"] for row in read_part(data, "test")]
    found = [
        surprise(load_generator(folder).on(device), texts, 16, 8).perplexity
        for device in (Device(), GPU)
    ]
    assert found[1] == pytest.approx(found[0], rel=2e-3)


def test_summaries_are_those_of_the_cpu(made):
    """In float32 all summaries are equal; in bfloat16 only their number is compared."""
    folder, data = made["bart"]
    articles = [row["article"] for row in read_part(data, "test")][:8]
    search = SearchSettings(beam=2, max_tokens=8)
    wanted = summarize(load_generator(folder), articles, search, 24)
    assert summarize(load_generator(folder).on(GPU), articles, search, 24) == wanted
    rounded = summarize(load_generator(folder).on(GPU, "bfloat16"), articles, search, 24)
    assert len(rounded) == len(wanted)


def test_times_of_both_devices(made):
    for name in ("bart", "gpt2"):
        model, data = made[name]
        cpu, gpu = measure_generation(
            {"one": model}, data, examples=2, given=16, new_tokens=6, rounds=2, accelerator="gpu"
        )
        print(name, cpu.seconds_per_example, gpu.seconds_per_example, gpu.hardware)
        assert (cpu.device, gpu.device, gpu.precision) == ("cpu", "cuda", "bfloat16")
        assert gpu.peak_mib > 0 and gpu.hardware == torch.cuda.get_device_name()
