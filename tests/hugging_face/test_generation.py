"""Cut models generate the same text with and without the key-value cache, and the same as masked models."""

from fnmatch import fnmatchcase

import pytest
import torch
from transformers import XLMRobertaForCausalLM

from tests.hugging_face.small import GENERATORS, HEADS, MAKERS, NEURONS, small_batch, small_model
from tests.pruning.masking import masked
from weebill.hugging_face.families import prunable
from weebill.pruning.cut import cut

REMOVED = {
    "heads": {"*.0.self_attention": [0, 2], "*": [1]},
    "first layer": {"*.0.*": range(HEADS)},
    "self-attention": {"*.self_attention": range(HEADS)},
    "cross-attention": {"*.cross_attention": range(HEADS)},
    "all": {"*": range(HEADS)},
}


def generated(model, family, **options):
    """Return sampled texts (rows, positions) for prompts of equal length, and the scores of their last pieces.

    Texts are sampled, because greedy texts of random models repeat one piece.
    """
    torch.manual_seed(6)
    prompt = small_batch(family)["input_ids"][:, :2]
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=True,
        temperature=4.0,
        min_new_tokens=8,
        max_new_tokens=8,
        output_scores=True,
        return_dict_in_generate=True,
        **options,
    )
    assert all(len(set(text)) > 4 for text in out.sequences.tolist())
    return out.sequences, out.scores[-1]


def removal(view, kind):
    """Return heads, chosen by the first pattern that their block matches, and neurons of the first layer."""
    heads = {}
    for block in view.attention_blocks():
        for pattern, chosen in REMOVED[kind].items():
            if fnmatchcase(block.name, pattern) and block.name not in heads:
                heads[block.name] = list(chosen)
    first, *_ = view.feed_forward_blocks()
    return heads, {first.name: list(range(NEURONS)) if kind == "all" else [3, 4]}


@pytest.mark.parametrize("kind", REMOVED)
@pytest.mark.parametrize("family", GENERATORS)
def test_with_and_without_the_cache(family, kind):
    """One beam and three take turns from family to family, and from kind to kind."""
    beams = (1, 3)[(GENERATORS.index(family) + list(REMOVED).index(kind)) % 2]
    model = small_model(family)
    view = prunable(model)
    heads, neurons = removal(view, kind)
    with masked(view, heads, neurons):
        expected, expected_scores = generated(model, family, num_beams=beams, use_cache=False)
    cut(view, heads, neurons)
    for use_cache in (True, False):
        texts, scores = generated(model, family, num_beams=beams, use_cache=use_cache)
        assert texts.tolist() == expected.tolist()
        torch.testing.assert_close(scores, expected_scores, rtol=0, atol=1e-4)


@pytest.mark.parametrize("family", GENERATORS)
def test_the_cache_of_a_model_without_some_layers(family):
    """The remaining layers have consecutive places in the cache."""
    model = small_model(family)
    for stack in prunable(model).layer_stacks():
        del stack.layers[0]
        stack.set_depth(len(stack.layers))
    texts, scores = generated(model, family, use_cache=True)
    expected, expected_scores = generated(model, family, use_cache=False)
    assert texts.tolist() == expected.tolist()
    torch.testing.assert_close(scores, expected_scores, rtol=0, atol=1e-4)


def decoder(family):
    """Return a model that continues text, and a function from input_ids to its logits."""
    model = small_model(family)
    if family == "xlm-roberta":
        model.config.is_decoder = True
        model = XLMRobertaForCausalLM(model.config).eval()
    if not model.config.is_encoder_decoder:
        return model, model
    source = small_batch(family)
    memory = model.get_encoder()(source["input_ids"], source["attention_mask"])

    def run(tokens, **cache):
        given = {"encoder_outputs": memory, "attention_mask": source["attention_mask"]}
        return model(decoder_input_ids=tokens, **given, **cache)

    return model, run


@pytest.mark.parametrize("family", MAKERS)
def test_a_text_in_steps_when_the_first_layers_have_no_heads(family):
    model, run = decoder(family)
    view = prunable(model)
    cut(view, {b.name: range(HEADS) for b in view.attention_blocks() if ".0." in b.name})
    tokens = small_batch("gpt2")["input_ids"].clamp(min=3)
    with torch.inference_mode():
        expected, cache, steps = run(tokens).logits, None, []
        for token in tokens.split(3, dim=1):
            out = run(token, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            steps.append(out.logits)
    torch.testing.assert_close(torch.cat(steps, 1), expected, rtol=0, atol=1e-5)
