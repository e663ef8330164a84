"""`python -m weebill.benchmarks.families` with small models: each family's steps, and a refused family."""

import pytest

from weebill.benchmarks import Row, families


@pytest.fixture
def small(monkeypatch):
    """Use small models, few of them, and short texts."""
    for name, size in {
        "LAYERS": 2,
        "WIDTH": 32,
        "HEADS": 4,
        "NEURONS": 48,
        "NEW": 6,
        "GIVEN": 5,
    }.items():
        monkeypatch.setattr(families, name, size)
    shape = {"hidden_size": 32, "head_dim": 8, "num_hidden_layers": 2, "intermediate_size": 48}
    shape |= {"num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": 1}
    neox = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
    shapes = {
        "llama": ("Llama", "ForCausalLM", shape),
        "gpt-neox": ("GPTNeoX", "ForCausalLM", neox),
    }
    monkeypatch.setattr(families, "SHAPES", shapes)


def test_the_table(small):
    speed = Row.of_rounds("llama", [30.0, 31.0], [10.0, 10.0], "tokens/s")
    llama, other = families.table({"llama": {"float32": speed}}).rows
    assert [cell.text for cell in llama.cells] == [
        "llama",
        "yes",
        "yes",
        "yes",
        "100.0%",
        "30",
        "3.05",
        "",
    ]
    found = [cell.text for cell in other.cells]
    beginning = "refused: GPTNeoXForCausalLM holds 0 models that can be"
    expected = [
        f"{beginning} distilled",
        f"{beginning} pruned",
        "yes",
        f"{beginning} stored in int8",
    ]
    assert found == ["gpt-neox", *expected, "", "", ""]


def test_every_family_is_of_its_own():
    assert len(families.FAMILIES) == 13
    assert {family for family in families.SHAPES} - {*families.FAMILIES} == {
        "blenderbot",
        "gpt-neox",
    }
