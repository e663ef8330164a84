"""The error of quantized inputs, against written-out sums and the formula of the literature."""

import pytest
import torch
from torch import nn

from tests.quantization.toy_model import LINEARS, TOKENS, Toy
from weebill.errors import InputError
from weebill.quantization.activation_error import load_errors, measure_errors, save_errors
from weebill.quantization.calibration import activation_scales, record_ranges


def test_errors_are_those_of_a_loop_over_all_numbers():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    batches = [torch.tensor([[1.0, -2.0, 0.3]]), torch.tensor([[5.0, 0.0, -0.07], [0.5, 1.5, 9.0]])]
    scales = {"wide": {"0": 127 / 9, "2": 40.0}, "narrow": {"0": 127 / 2, "2": 4000.0}}
    errors = measure_errors(model, lambda: [model(batch) for batch in batches], scales)
    assert [(e.map, e.activation_scale) for e in errors] == [
        (name, formula) for name in ("0", "2") for formula in ("wide", "narrow")
    ]
    for error in errors:
        scale = scales[error.activation_scale][error.map]
        squares = squared = clipped = count = 0
        for batch in batches:
            x = batch if error.map == "0" else model[1](model[0](batch))
            for value in x.flatten().tolist():
                code = max(-127, min(127, round(value * scale)))
                squares += value**2
                squared += (value - code / scale) ** 2
                clipped += abs(value * scale) > 127
                count += 1
        assert (error.values, error.clipped) == (count, clipped)
        assert error.squares == pytest.approx(squares)
        assert error.squared_error == pytest.approx(squared, rel=1e-3)
        assert error.relative == pytest.approx(squared / squares, rel=1e-3)


def test_the_model_runs_on_as_it_was():
    model = Toy().eval()
    expected = model(TOKENS)
    found = []
    ranges = record_ranges(model, lambda: model(TOKENS))
    scales = {"mean-of-maxima": activation_scales(ranges, "mean-of-maxima")}
    errors = measure_errors(model, lambda: found.append(model(TOKENS)), scales)
    assert torch.equal(found[0], expected)
    assert sorted(error.map for error in errors) == sorted(LINEARS)
    assert all(0 < error.relative < 1e-3 for error in errors)
    assert not any(module._forward_pre_hooks for module in model.modules())
    with pytest.raises(ValueError, match="no activation scale for layer"):
        measure_errors(model, lambda: model(TOKENS), {"mean-of-maxima": {}})


def test_errors_survive_their_file(tmp_path):
    model = nn.Sequential(nn.Linear(2, 2))
    errors = measure_errors(model, lambda: model(torch.ones(1, 2)), {"any": {"0": 100.0}})
    save_errors(tmp_path / "errors.json", errors)
    assert load_errors(tmp_path / "errors.json") == errors
    (tmp_path / "errors.json").write_text('[{"wrong": 1}]')
    with pytest.raises(InputError, match="not activation errors"):
        load_errors(tmp_path / "errors.json")
