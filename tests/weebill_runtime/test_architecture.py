"""Architectures in config.json: a round trip, and clear errors for impossible shapes."""

import json

import pytest

from tests.translation.conftest import small_architecture
from weebill.errors import InputError
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture, LayerShape

CUT = LayerShape(heads=0, head_size=8, feed_forward=0)  # all heads and neurons pruned


def stored(architecture):
    return json.loads(json.dumps(architecture.to_dict()))


@pytest.mark.parametrize("tied", [True, False])
def test_the_inverse_of_to_dict(tied):
    architecture = small_architecture(kind="attention", tied=tied)
    assert Architecture.from_dict(stored(architecture)) == architecture
    pruned = Architecture(50, 16, (CUT,), (CUT,), 1)
    assert Architecture.from_dict(stored(pruned)) == pruned


@pytest.mark.parametrize(
    "architecture",
    [
        small_architecture(kind="attention", tied=False),
        small_architecture(kind="ssru", tied=True),
        Architecture(
            50, 16, (LayerShape(3, 8, 20), CUT), (LayerShape(1, 4, 7, 5),), 1, "attention"
        ),
        Architecture(50, 16, (CUT,), (CUT, LayerShape(2, 8, 9)), 2),
    ],
)
def test_parameters_are_those_of_the_network(architecture):
    network = Translator(architecture)
    assert architecture.parameters == sum(one.numel() for one in network.parameters())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("encoder", [], r"encoder: \[\], expected a list of at least one layer"),
        ("decoder", [], r"decoder: \[\], expected a list of at least one layer"),
        ("encoder", {}, "encoder: {}, expected a list"),
        ("encoder", ["layer"], r"encoder\[0\]: 'layer', expected keys and values"),
        ("encoder.0.heads", -1, r"encoder\[0\]\.heads: -1, expected a whole number from 0 to 16,384"),
        ("encoder.0.heads", "4", r"encoder\[0\]\.heads: '4', expected"),
        ("encoder.0.heads", 4.0, r"encoder\[0\]\.heads: 4\.0, expected"),
        ("encoder.0.heads", True, r"encoder\[0\]\.heads: True, expected"),
        ("encoder.0.head_size", 0, r"encoder\[0\]\.head_size: 0, expected a whole number from 1"),
        ("decoder.0.feed_forward", None, r"decoder\[0\]\.feed_forward: None, expected"),
        ("decoder.0.feed_forward", 10**12, r"decoder\[0\]\.feed_forward: 1000000000000, expected"),
        ("decoder.0.ears", 2, r"decoder\[0\]: unknown key 'ears'"),
        ("vocabulary", 50.0, r"vocabulary: 50\.0, expected"),
        ("embedding", "16", "embedding: '16', expected"),
        ("decoder_depth", 0, "decoder_depth: 0, expected"),
        ("decoder_depth", -1, "decoder_depth: -1, expected"),
        ("decoder_depth", "2", "decoder_depth: '2', expected"),
        ("decoder_depth", 10**9, "decoder_depth: 1000000000, expected"),
        ("decoder_depth", 7, "decoder: 2 layers where decoder_depth is 7, expected 7, or 1"),
        ("decoder_kind", "ssruu", "decoder_kind: 'ssruu', expected ssru or attention"),
        ("decoder_kind", ["ssru"], r"decoder_kind: \['ssru'\], expected"),
        ("decoder_deep", 2, "unknown key 'decoder_deep'; did you mean 'decoder_depth'"),
    ],
)  # fmt: skip
def test_what_no_network_can_have_is_named(place, value, message):
    values = stored(small_architecture(tied=False))
    *keys, last = (int(key) if key.isdigit() else key for key in place.split("."))
    inner = values
    for key in keys:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(InputError, match=f"^architecture.*{message}"):
        Architecture.from_dict(values)


@pytest.mark.parametrize("values", [None, "text", [3]])
def test_what_is_no_mapping_is_named(values):
    with pytest.raises(InputError, match=r"^architecture: .*, expected keys and values"):
        Architecture.from_dict(values)


def test_a_missing_key_is_named():
    values = stored(small_architecture())
    del values["encoder"][1]["head_size"]
    with pytest.raises(InputError, match=r"architecture\.encoder\[1\]: key 'head_size' is missing"):
        Architecture.from_dict(values)
