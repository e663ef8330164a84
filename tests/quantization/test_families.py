"""The same swap in a model of another library: Hugging Face's Marian, with shared embeddings."""

import pytest
import torch

from tests.hugging_face.small import small_model
from weebill.quantization.calibration import activation_scales, record_ranges
from weebill.quantization.grids import GRIDS, grid_named
from weebill.quantization.modules import quantize_model

TOKENS = torch.tensor([[3, 7, 20, 0], [9, 9, 1, 0]])


def logits(model):
    with torch.inference_mode():
        return model(input_ids=TOKENS, decoder_input_ids=TOKENS).logits


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("mode", ["fake", "packed"])
def test_a_hugging_face_model_computes_with_rounded_weights(grid, mode):
    rounded = small_model("marian")
    model = quantize_model(small_model("marian"), grid, mode=mode)
    with torch.no_grad():
        for name, parameter in rounded.named_parameters():  # shared ones once
            if parameter.dim() == 2 and "embed_positions" not in name:
                parameter.copy_(grid_named(grid).round(parameter))
    assert torch.allclose(logits(model), logits(rounded), rtol=1e-5, atol=1e-5)
    codes = [name for name in model.state_dict() if name.endswith((".codes", ".master"))]
    assert len({name for name in codes if "shared" in name or "embed" in name or "lm" in name}) == 1


def test_a_hugging_face_model_translates_with_integer_products():
    model = small_model("marian")
    scales = activation_scales(record_ranges(model, lambda: logits(model)), "mean-of-maxima")
    exact = logits(model)
    quantize_model(model, "int8", scales)
    assert (logits(model) - exact).norm() / exact.norm() < 0.05
    assert len(model.generate(input_ids=TOKENS, max_new_tokens=5, num_beams=2)) == len(TOKENS)
