"""Recorded ranges and errors, compared with loops over the same calls; both formulas, compared with the papers."""

import math
import statistics

import pytest
import torch
from torch import nn

from tests.quantization.toy_model import LINEARS, TOKENS, Toy
from weebill.errors import InputError
from weebill.files import write_json
from weebill.quantization.calibration import (
    ActivationRanges,
    activation_scales,
    load_errors,
    load_ranges,
    measure_errors,
    record_ranges,
)

MAXIMA = [1.0, 2.0, 4.0, 3.5]


def test_the_two_formulas_are_the_printed_ones():
    ranges = {"x": ActivationRanges.of(MAXIMA)}
    scales = [127 / m for m in MAXIMA]
    printed = statistics.mean(scales) + 1.1 * statistics.pstdev(scales)
    script = 127 / (statistics.mean(MAXIMA) + 1.1 * statistics.pstdev(MAXIMA))
    assert activation_scales(ranges, "mean-of-scales")["x"] == pytest.approx(printed)
    assert activation_scales(ranges, "mean-of-maxima")["x"] == pytest.approx(script)
    assert script < 127 / statistics.mean(MAXIMA) < printed  # the script clips less


def test_equal_maxima_make_both_formulas_the_dynamic_scale():
    ranges = {"x": ActivationRanges.of([2.5] * 7)}
    for formula in ("mean-of-scales", "mean-of-maxima"):
        assert activation_scales(ranges, formula)["x"] == pytest.approx(127 / 2.5)


def test_an_unknown_formula_is_named_with_the_nearest():
    with pytest.raises(InputError, match="did you mean 'mean-of-maxima'"):
        activation_scales({}, "mean-of-maximum")


def test_every_call_of_every_map_is_an_instance():
    model = Toy().eval()
    batches = [TOKENS, TOKENS[:1], TOKENS + 1 - (TOKENS == 22).int()]
    ranges = record_ranges(model, lambda: [model(batch) for batch in batches])
    assert sorted(ranges) == sorted(LINEARS)
    expected = {name: [] for name in LINEARS}
    for batch in batches:  # the network by hand
        x = model.embedding(batch)
        expected["layer"].append(x.abs().max().item())
        x = torch.relu(model.layer(x))
        expected["plain"].append(x.abs().max().item())
        expected["layer"].append(x.abs().max().item())  # second call
        x = model.norm(model.plain(x) + model.layer(x))
        expected["output"].append(x.abs().max().item())
    for name, maxima in expected.items():
        assert ranges[name].instances == len(maxima)
        assert ranges[name].mean_maximum == pytest.approx(statistics.mean(maxima))
        assert ranges[name].std_maximum == pytest.approx(statistics.pstdev(maxima), abs=1e-7)
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_zero_inputs_say_nothing():
    assert ActivationRanges.of([0.0, 2.0]) == ActivationRanges.of([2.0])
    assert activation_scales({"x": ActivationRanges.of([0.0])}, "mean-of-scales") == {"x": 1.0}


def test_a_map_that_never_ran_or_diverged_is_named():
    model = nn.ModuleDict({"used": nn.Linear(2, 2), "unused": nn.Linear(2, 2)})
    with pytest.raises(InputError, match="unused was never used"):
        record_ranges(model, lambda: model["used"](torch.ones(1, 2)))
    del model["unused"]
    with pytest.raises(InputError, match="used was given NaN"):
        record_ranges(model, lambda: model["used"](torch.full((1, 2), math.nan)))


def test_ranges_survive_their_file(tmp_path):
    ranges = {"x": ActivationRanges.of(MAXIMA), "y": ActivationRanges.of([0.1])}
    write_json(tmp_path / "ranges.json", ranges)
    assert load_ranges(tmp_path / "ranges.json") == ranges
    (tmp_path / "ranges.json").write_text('{"x": {"wrong": 1}}')
    with pytest.raises(InputError, match="not activation ranges"):
        load_ranges(tmp_path / "ranges.json")


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
    write_json(tmp_path / "errors.json", errors)
    assert load_errors(tmp_path / "errors.json") == errors
    (tmp_path / "errors.json").write_text('[{"wrong": 1}]')
    with pytest.raises(InputError, match="not activation errors"):
        load_errors(tmp_path / "errors.json")
