"""Encoders of the compiled generator read long texts alone and short ones together, and write the same."""

import pytest

from tests.generation.test_compiled import batch_of, livelier
from tests.hugging_face import small
from weebill.generation import compiled
from weebill.generation.compiled import CompiledGenerator
from weebill.generation.int8 import load_int8, save_int8


@pytest.mark.parametrize("family", ["bart", "marian", "mbart", "t5"])
def test_texts_alone_and_together_are_as_in_the_library(family, tmp_path, monkeypatch):
    save_int8(livelier(small.small_model(family)), tmp_path / "int8")
    model, batch = load_int8(tmp_path / "int8"), batch_of(family)
    batch["attention_mask"][0, 0] = 0  # padding before a text counts as positions of BART
    options = {"do_sample": False, "max_new_tokens": 9}
    expected = model.generate(**batch, **options)
    generator, calls = CompiledGenerator(model), []
    model.get_encoder().register_forward_pre_hook(
        lambda module, given, named: calls.append(tuple(named["input_ids"].shape)), with_kwargs=True
    )
    for least in (1, 6, 100):
        monkeypatch.setattr(compiled, "ALONE", least)
        assert generator.generate(**batch, **options).tolist() == expected.tolist()
    ends = [int(mask.nonzero()[-1]) + 1 for mask in batch["attention_mask"]]
    short = [end for end in ends if end < 6]
    alone = [(1, end) for end in ends]
    assert short and len(short) < len(ends), "texts of both kinds"
    mixed = [(1, end) for end in ends if end >= 6] + [(len(short), max(short))]
    assert calls == [*alone, *mixed, (len(ends), max(ends))]
