"""oneDNN's products and linear layers, compared with torch's in float64: values and gradients."""

import copy
import os
import runpy

import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.small_models import make_network
from weebill.kernels import cpu_matmul
from weebill.kernels.cpu_matmul import (
    OneDnnLinears,
    PackedLinear,
    add_product,
    product,
    training_linears,
    trains_by_onednn,
)
from weebill.quantization.modules import fake_quantization

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN"
)


@pytest.fixture(autouse=True)
def onednn(monkeypatch):
    """Use oneDNN if this torch has it, even if the other library is faster on this machine."""
    for name in ("ONEDNN_IS_USED", "TRAINS_BY_ONEDNN"):
        monkeypatch.setattr(cpu_matmul, name, torch.backends.mkldnn.is_available())


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_product_equals_float64(transposed, with_bias):
    torch.manual_seed(1)
    left, right = torch.randn(70, 33), torch.randn(33, 50)
    if transposed:
        left, right = left.t().contiguous().t(), right.t().contiguous().t()
    bias = torch.randn(50) if with_bias else None
    expected = left.double() @ right.double() + (bias.double() if with_bias else 0)
    torch.testing.assert_close(product(left, right, bias).double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_product_is_added_in_place(dtype):
    torch.manual_seed(1)
    total, left, right = torch.randn(3, 20, 20, dtype=dtype)
    expected = total.double() + left.double() @ right.double()
    add_product(total, left, right)
    torch.testing.assert_close(total.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(7, 5, 33), (1, 33), (0, 33)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_linear_and_its_gradients(shape, with_bias):
    torch.manual_seed(1)
    linear = nn.Linear(33, 20, bias=with_bias)
    oracle = copy.deepcopy(linear).double()
    x = torch.randn(shape)
    inputs = x.clone().requires_grad_(), x.double().requires_grad_()
    with OneDnnLinears():
        ours = linear(inputs[0])
    theirs = oracle(inputs[1])
    weights = torch.randn(theirs.shape)
    (ours * weights).sum().backward()
    (theirs * weights).sum().backward()
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-5)
    pairs = [inputs, *zip(linear.parameters(), oracle.parameters(), strict=True)]
    for mine, other in pairs:
        torch.testing.assert_close(mine.grad.double(), other.grad, rtol=1e-5, atol=1e-5)


@needs_onednn
def test_only_float32_on_the_cpu_and_only_within_the_block(monkeypatch):
    calls = []
    whole = cpu_matmul._Linear.apply
    monkeypatch.setattr(cpu_matmul._Linear, "apply", lambda *args: calls.append(1) or whole(*args))
    linear, x = nn.Linear(8, 4), torch.randn(3, 8)
    linear(x)
    with OneDnnLinears():
        with torch.autocast("cpu", torch.bfloat16):
            assert linear(x).dtype == torch.bfloat16
        functional.linear(x.double(), linear.weight.double())
    assert not calls
    with OneDnnLinears():
        linear(x)
    assert len(calls) == 1


def test_a_training_without_onednn_takes_pytorchs_products(monkeypatch):
    monkeypatch.setattr(cpu_matmul, "TRAINS_BY_ONEDNN", False)
    monkeypatch.setattr(cpu_matmul, "onednn_product", None)
    linear, x = nn.Linear(8, 4), torch.randn(3, 8)
    expected = linear(x)
    with training_linears():
        assert torch.equal(linear(x), expected)
    assert torch.equal(product(x, linear.weight.t(), linear.bias), expected)
    total = torch.zeros(3, 4)
    add_product(total, x, linear.weight.t())
    torch.testing.assert_close(total + linear.bias, expected)
    monkeypatch.setattr(cpu_matmul, "ONEDNN_IS_USED", False)
    with OneDnnLinears():
        assert torch.equal(linear(x), expected)
    assert torch.equal(PackedLinear(linear.weight, linear.bias)(x), expected)


@pytest.mark.parametrize(
    ("name", "expected"), [("Intel Xeon", False), ("AMD EPYC", True), ("Unknown", True)]
)
@needs_onednn
def test_trainings_on_intels_processors_use_mkl(name, expected):
    assert trains_by_onednn({"cpu_name": name}) == expected
    assert trains_by_onednn({}), "a PyTorch that does not know the processor"


@needs_onednn
def test_every_linear_of_a_fake_quantized_network_is_reached(monkeypatch):
    calls = []
    whole = cpu_matmul._Linear.apply
    monkeypatch.setattr(cpu_matmul._Linear, "apply", lambda *args: calls.append(1) or whole(*args))
    source, mask = torch.tensor([[2, 3, 4]]), torch.ones(1, 3, dtype=torch.bool)
    plain = make_network(20)
    with OneDnnLinears():
        plain.encode(source, mask)
    expected = len(calls)
    assert expected == 6 * len(plain.encoder)
    fake_quantization("log4")(plain)
    with OneDnnLinears():
        plain.encode(source, mask)
    assert len(calls) == 2 * expected


def test_caches_of_prepared_products_are_small(monkeypatch):
    names = "LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    for name in names:
        monkeypatch.delenv(name)  # tests keep more
    runpy.run_path(cpu_matmul.__file__)
    assert all(int(os.environ[name]) < 1024 for name in names)


def test_bfloat16_where_the_processor_lacks_it(monkeypatch):
    """Products equal float32 products of rounded numbers, rounded again."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    torch.manual_seed(1)
    weight, x = torch.randn(50, 33).bfloat16(), torch.randn(7, 33).bfloat16()
    found = PackedLinear(weight, None, "relu")(x)
    expected = functional.relu(x.double() @ weight.double().T)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.double(), expected, rtol=2**-8, atol=0)


@pytest.mark.parametrize("activation", [None, "gelu", "relu"])
@pytest.mark.parametrize("shape", [(50, 33), (0, 33)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_a_packed_layer_equals_float64(dtype, shape, activation):
    torch.manual_seed(1)
    weight, bias = torch.randn(shape, dtype=dtype), torch.randn(shape[0], dtype=dtype)
    layer = PackedLinear(weight, bias, activation)
    for rows in ((1,), (70,), (3, 5), (0,)):
        x = torch.randn(*rows, 33, dtype=dtype)
        expected = functional.linear(x.double(), weight.double(), bias.double())
        if activation is not None:
            expected = getattr(functional, activation)(expected)
        tolerance = 2**-8 if dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(layer(x).double(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("card", "accelerator", "expected"),
    [
        ("has", "gpu", "bfloat16"),
        ("lacks", "gpu", "float32"),
        ("none", "gpu", "float32"),  # the training then ends with an error
        ("has", "cpu", "float32"),
    ],
)
def test_trainings_take_bfloat16_by_themselves_on_a_card_that_has_it(
    monkeypatch, card, accelerator, expected
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: card != "none")
    native = lambda including_emulation: card == "has" or including_emulation  # noqa: E731
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", native)
    cpu_matmul.training_precision.cache_clear()
    try:
        assert cpu_matmul.training_precision("auto", accelerator) == expected
    finally:
        cpu_matmul.training_precision.cache_clear()


@pytest.mark.parametrize(
    ("native", "accelerator", "expected"),
    [
        ("", "cpu", "processor"),
        ("cpu", "cpu", ""),
        ("gpu", "gpu", ""),
        ("cpu", "gpu", "GPU"),  # such as a T4, for which Triton compiles no kernel in bfloat16
        ("", "rehearsal", ""),
    ],
)
def test_trainings_avoid_bfloat16_where_a_device_lacks_it(
    monkeypatch, caplog, native, accelerator, expected
):
    monkeypatch.setattr(cpu_matmul, "multiplies_bfloat16", lambda: native == "cpu")
    monkeypatch.setattr(cpu_matmul, "card_multiplies_bfloat16", lambda: native == "gpu")
    cpu_matmul.training_precision.cache_clear()
    try:
        found = [cpu_matmul.training_precision("bfloat16", accelerator) for _ in range(3)]
        assert found == ["float32" if expected else "bfloat16"] * 3
        assert cpu_matmul.training_precision("float32", accelerator) == "float32"
    finally:
        cpu_matmul.training_precision.cache_clear()
    lines = [record.message for record in caplog.records]
    told = f"this {expected} has no products in bfloat16: the training takes float32"
    assert lines == [told] * bool(expected)
