"""Sizes of small models that generate."""

from weebill.evaluation.size.generation_size import generation_size
from weebill.generation.models import load_generator


def test_size_counts_every_number_once(made):
    model, _ = made["gpt2"]
    size = generation_size("gpt2", model)
    assert size.numbers == {"F32": load_generator(model).model.num_parameters()}
    assert size.parameter_bytes == (model / "model.safetensors").stat().st_size
    assert size.layer_shapes["heads"]["decoder.0.self_attention"] == 4
