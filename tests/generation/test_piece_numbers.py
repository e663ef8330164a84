"""Settings that name pieces get the pieces' new numbers; faulty numbers are refused before anything is cut."""

import re

import pytest
import torch

from tests.generation.test_vocabulary import NARROW, model_of, tokenizer_of
from weebill.errors import InputError
from weebill.generation.vocabulary import prune_vocabulary


@pytest.mark.parametrize(
    "key, form",
    [
        ("suppress_tokens", lambda a, b: [a, b]),
        ("begin_suppress_tokens", lambda a, b: [a, b]),
        ("bad_words_ids", lambda a, b: [[a], [b, a]]),
        ("force_words_ids", lambda a, b: [[a], [[b], [a, b]]]),
        ("sequence_bias", lambda a, b: [[[a], -100.0], [[b, a], 2.0]]),
        ("eos_token_id", lambda a, b: [a, b]),
        ("decoder_start_token_id", lambda a, b: a),
        ("forced_bos_token_id", lambda a, b: b),
        ("forced_eos_token_id", lambda a, b: [a, b]),
        ("cls_token_id", lambda a, b: a),  # not a setting of the library
    ],
)
def test_pieces_of_settings_are_kept_and_renumbered(key, form):
    tokenizer = tokenizer_of("bart")
    model = model_of("bart", tokenizer)
    first, last = len(tokenizer) - 2, len(tokenizer) - 1  # not in the text
    setattr(model.generation_config, key, form(first, last))
    _, kept = prune_vocabulary(model, tokenizer, NARROW[:1])
    number = {old: new for new, old in enumerate(kept.tolist())}
    named = {str(piece) for piece in (first, last)} & set(
        re.findall(r"\d+", str(form(first, last)))
    )
    assert named and all(int(piece) in number for piece in named)
    expected = form(number.get(first), number.get(last))
    assert getattr(model.generation_config, key) == expected


def test_biases_by_a_dictionary_change_the_text_as_before():
    tokenizer = tokenizer_of("bart")
    before, after = model_of("bart", tokenizer), model_of("bart", tokenizer)
    last = len(tokenizer) - 1
    for model in (before, after):
        model.generation_config.sequence_bias = {(last,): 100.0, (last + 5,): 1.0}
    pieces, kept = prune_vocabulary(after, tokenizer, NARROW[:1])
    assert after.generation_config.sequence_bias == [[[len(kept) - 1], 100.0]]
    del before.generation_config.sequence_bias[last + 5,]
    options = {"max_new_tokens": 4, "do_sample": False, "num_beams": 1}
    old, new = (
        model.generate(torch.tensor([text(NARROW[0])["input_ids"]]), **options)
        for model, text in ((before, tokenizer), (after, pieces))
    )
    assert last in old and torch.equal(kept[new], old)


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("forced_decoder_ids", [[1, 5]], "forced_decoder_ids names pieces in a form that cannot"),
        ("constraints", [object()], "constraints names pieces in a form that cannot be renumbered"),
        ("lang_code_to_id", {"de": 5}, "lang_code_to_id names pieces in a form that cannot"),
        ("sequence_bias", [5, 6], r"sequence_bias is \[5, 6\], expected pairs"),
        ("suppress_tokens", ["a"], r"suppress_tokens is \['a'\], expected numbers of pieces"),
    ],
)
def test_what_cannot_be_renumbered_is_refused_and_nothing_is_cut(key, value, message):
    tokenizer = tokenizer_of("gpt2")
    model = model_of("gpt2", tokenizer)
    setattr(model.generation_config, key, value)
    with pytest.raises(InputError, match=message):
        prune_vocabulary(model, tokenizer, NARROW)
    assert model.lm_head.weight.shape[0] == model.config.vocab_size == len(tokenizer)


def test_a_number_below_zero_stands_for_no_piece():
    """Some configurations use -1 for padding."""
    tokenizer = tokenizer_of("gpt2")
    model = model_of("gpt2", tokenizer)
    model.config.pad_token_id = model.generation_config.pad_token_id = -1
    _, kept = prune_vocabulary(model, tokenizer, NARROW)
    assert kept[0] == 0 and model.config.pad_token_id is None
