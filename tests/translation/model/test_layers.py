"""Layers, compared with formulas in loops and with torch's own attention."""

import pytest
import torch
from torch import nn

from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.translation.model.layers import SSRU, Attention, DecoderLayer, Dropout
from weebill_runtime.architecture import LayerShape


def test_ssru_is_its_formula_and_gradcheck_holds():
    torch.manual_seed(1)
    unit = SSRU(5).double()
    x = torch.randn(2, 4, 5, dtype=torch.float64, requires_grad=True)
    expected = torch.zeros(2, 4, 5, dtype=torch.float64)
    for b in range(2):
        cell = torch.zeros(5, dtype=torch.float64)
        for t in range(4):
            forget = torch.sigmoid(unit.forget.weight @ x[b, t] + unit.forget.bias)
            cell = forget * cell + (1 - forget) * (unit.candidate.weight @ x[b, t])
            expected[b, t] = cell.clamp(min=0)
    torch.testing.assert_close(unit(x), expected)
    assert torch.autograd.gradcheck(unit, (x,))


def test_ssru_steps_equal_all_positions_at_once():
    torch.manual_seed(2)
    unit, x = SSRU(6), torch.randn(3, 5, 6)
    cell, outputs = torch.zeros(3, 6), []
    for position in range(5):
        output, cell = unit.step(x[:, position], cell)
        outputs.append(output)
    torch.testing.assert_close(torch.stack(outputs, 1), unit(x))


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_equals_torch_multi_head_attention(recording, causal):
    torch.manual_seed(3)
    ours, oracle = (
        Attention(16, heads=4, head_size=4),
        nn.MultiheadAttention(16, 4, batch_first=True),
    )
    for bias in (ours.query.bias, ours.key.bias, ours.value.bias, ours.out.bias):
        nn.init.normal_(bias)
    with torch.no_grad():
        oracle.in_proj_weight.copy_(
            torch.cat([ours.query.weight, ours.key.weight, ours.value.weight])
        )
        oracle.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
        oracle.out_proj.load_state_dict(ours.out.state_dict())
    x = torch.randn(2, 6, 16)
    mask = torch.ones(2, 6, dtype=torch.bool)
    if not causal:
        mask[1, 4:] = False
    upper = torch.ones(6, 6, dtype=torch.bool).triu(1) if causal else None
    expected, weights = oracle(
        x, x, x, key_padding_mask=~mask, attn_mask=upper, average_attn_weights=False
    )
    recorded = []
    if recording:
        ours.record = lambda weights, queries: recorded.append(weights)
    result = ours(x, None if causal else mask[:, None, None, :], causal)
    torch.testing.assert_close(result, expected)
    if recording:
        torch.testing.assert_close(recorded[0], weights)


def test_attention_without_heads_is_its_output_bias():
    attention = Attention(4, heads=0, head_size=8)
    nn.init.normal_(attention.out.bias)
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(attention(x, None), attention.out.bias.expand(2, 3, 4))


def test_dropout_keeps_the_mean_and_the_rate():
    torch.manual_seed(4)
    dropout, x = Dropout(0.25), torch.ones(1000, 1001)
    dropped = dropout(x)
    assert (dropped == 0).double().mean().item() == pytest.approx(0.25, abs=0.003)
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.004)
    assert torch.equal(dropout.eval()(x), x)


def test_an_int8_decoder_keeps_its_memory_in_16_bits():
    """Keys and values are rounded to multiples of 1/32767 of each one's largest number; gradients ignore rounding."""
    torch.manual_seed(4)
    layer = DecoderLayer(32, LayerShape(heads=2, head_size=16, feed_forward=64), "ssru")
    names = [name for name, _ in quantizable_linears(layer)]
    quantize_model(layer, "int8", dict.fromkeys(names, 30.0), mode="fake")
    memory = torch.randn(2, 5, 32, requires_grad=True)
    exact = layer.cross_attention.project_memory(memory)
    found = layer.project_memory(memory)
    for one, other in zip(exact, found, strict=True):
        assert not torch.equal(one, other)
        for row, kept in zip(one.flatten(0, 2).tolist(), other.flatten(0, 2).tolist(), strict=True):
            step = max(map(abs, row)) / 32767
            counts = [x / step for x in kept]
            assert counts == pytest.approx(list(map(round, counts)), abs=0.02)
            assert kept == pytest.approx(row, abs=0.51 * step)
    (expected,) = torch.autograd.grad(sum(part.square().sum() for part in exact), memory)
    (gradient,) = torch.autograd.grad(sum(part.square().sum() for part in found), memory)
    torch.testing.assert_close(gradient, expected, rtol=1e-3, atol=1e-3)


def test_a_float32_decoder_keeps_its_memory_as_it_is():
    layer = DecoderLayer(32, LayerShape(heads=2, head_size=16, feed_forward=64), "ssru")
    memory = torch.randn(2, 5, 32)
    for one, other in zip(
        layer.cross_attention.project_memory(memory), layer.project_memory(memory), strict=True
    ):
        assert torch.equal(one, other)
