"""Recorded attention weights of a family equal those that the library returns."""

import pytest
import torch

from tests.hugging_face.small import HEADS, MAKERS, small_batch, small_model
from weebill.hugging_face.families import prunable
from weebill.pruning.criteria import ConfidenceAccumulator
from weebill.pruning.cut import cut


def library_attention(model, batch):
    """Return attention weights (batch, h, queries, keys) by block name, from `output_attentions`."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        out = model(**batch, output_attentions=True)
    model.set_attn_implementation("sdpa")
    names = {
        "attentions": "decoder.{}.self_attention"
        if model.config.model_type == "gpt2"
        else "encoder.{}.self_attention",
        "encoder_attentions": "encoder.{}.self_attention",
        "decoder_attentions": "decoder.{}.self_attention",
        "cross_attentions": "decoder.{}.cross_attention",
    }
    return {
        name.format(i): weights
        for key, name in names.items()
        for i, weights in enumerate(out.get(key) or ())
    }


def queries_of(name, batch):
    """Return the mask of a block's real queries."""
    side = "decoder_" if name.startswith("decoder") and "decoder_attention_mask" in batch else ""
    return batch[f"{side}attention_mask"].bool()


@pytest.mark.parametrize("family", MAKERS)
def test_weights_and_queries(family):
    model, batch = small_model(family), small_batch(family)
    blocks = prunable(model).attention_blocks()
    seen = {}
    for block in blocks:
        block.set_recorder(lambda *given, name=block.name: seen.update({name: given}))
    with torch.inference_mode():
        model(**batch)
    for block in blocks:
        block.set_recorder(None)
    assert model.config._attn_implementation == "sdpa"
    expected = library_attention(model, batch)
    assert seen.keys() == expected.keys() == {block.name for block in blocks}
    for name, (weights, queries) in seen.items():
        torch.testing.assert_close(weights, expected[name], rtol=0, atol=1e-6)
        assert torch.equal(queries, queries_of(name, batch)), name
    seen.clear()
    with torch.inference_mode():
        model(**batch)
    assert not seen


@pytest.mark.parametrize("family", MAKERS)
def test_confidence_of_a_cut_model(family):
    model = small_model(family)
    view = prunable(model)
    *_, last = view.attention_blocks()
    cut(view, {last.name: [1, 2]})
    accumulator = ConfidenceAccumulator(view.attention_blocks())
    batches = [small_batch(family, seed) for seed in (8, 9)]
    with accumulator.recording(), torch.inference_mode():
        for batch in batches:
            model(**batch)
    for name, confidence in accumulator.result().items():
        largest = [
            row[:, real].amax(-1)  # (h, real queries)
            for batch in batches
            for row, real in zip(
                library_attention(model, batch)[name], queries_of(name, batch), strict=True
            )
        ]
        expected = torch.cat(largest, 1).mean(1).tolist()
        assert len(confidence) == (2 if name == last.name else HEADS)
        assert confidence == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("family", MAKERS)
def test_a_block_without_heads_has_no_confidence(family):
    model = small_model(family)
    view = prunable(model)
    first, *_ = view.attention_blocks()
    cut(view, {first.name: range(HEADS)})
    accumulator = ConfidenceAccumulator(view.attention_blocks())
    with accumulator.recording(), torch.inference_mode():
        model(**small_batch(family))
    assert [name for name, values in accumulator.result().items() if not values] == [first.name]


def test_of_a_text_in_continuation_the_last_positions_are_the_queries():
    model = small_model("gpt2")
    seen = []
    block = prunable(model).attention_blocks()[-1]
    block.set_recorder(lambda weights, queries: seen.append((weights.shape, queries.tolist())))
    prompt, mask = torch.tensor([[1, 5, 6], [7, 8, 9]]), torch.tensor([[0, 1, 1], [1, 1, 1]])
    model.generate(prompt, attention_mask=mask, min_new_tokens=2, max_new_tokens=2)
    assert seen == [
        ((2, HEADS, 3, 3), [[False, True, True], [True, True, True]]),
        ((2, HEADS, 1, 4), [[True], [True]]),
    ]


def test_without_a_mask_all_queries_are_real():
    model, batch = small_model("xlm-roberta"), small_batch("xlm-roberta")
    seen = []
    block = prunable(model).attention_blocks()[0]
    block.set_recorder(lambda weights, queries: seen.append((weights.shape, queries)))
    model(batch["input_ids"])
    assert seen == [((3, HEADS, 9, 9), None)]


def test_a_mask_that_does_not_name_positions_is_refused():
    model = small_model("gpt2")
    prunable(model).attention_blocks()[0].set_recorder(lambda *_: None)
    with pytest.raises(ValueError, match=r"give one of \(batch, positions\)"):
        model(torch.ones(2, 3, dtype=torch.long), attention_mask=torch.ones(2, 1, 3, 3).bool())
