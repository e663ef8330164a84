"""Tokens and batches: inputs and labels, padding, the order of examples, noise."""

import json
from dataclasses import replace

import numpy as np
import pytest
import sentencepiece
import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import MarianTokenizer, PreTrainedTokenizerFast

from tests.generation.small import FAST, SHAPES, article
from weebill.errors import InputError
from weebill.generation.encoding import IGNORED, Batches, Encoder, Example, Noise
from weebill.generation.settings import TrainingSettings
from weebill.generation.train_from_scratch import (
    BART_TOKENS,
    GPT2_TOKENS,
    new_model,
    train_tokenizer,
)

ROWS = [article(number) for number in range(23)]
TEXTS = [row["article"] for row in ROWS]


@pytest.fixture(scope="module")
def bart() -> Encoder:
    tokenizer = train_tokenizer(TEXTS, 300, BART_TOKENS, 40)
    return Encoder(new_model(SHAPES["bart"], tokenizer, 1), tokenizer, 40, 12)


@pytest.fixture(scope="module")
def gpt2() -> Encoder:
    tokenizer = train_tokenizer(TEXTS, 300, GPT2_TOKENS, 40)
    return Encoder(new_model(SHAPES["gpt2"], tokenizer, 1), tokenizer, 16, 0)


def test_tokenizers_spell_any_text_and_are_the_same_each_time(bart, gpt2):
    for encoder, special in ((bart, BART_TOKENS), (gpt2, GPT2_TOKENS)):
        text = "A wren\n\n  costs £3 — ‘twit’ 日本\t"
        tokens = encoder.tokenizer(text, add_special_tokens=False)["input_ids"]
        assert encoder.tokenizer.decode(tokens) == text
        again = train_tokenizer(TEXTS, 300, special, 40)
        assert again.backend_tokenizer.to_str() == encoder.tokenizer.backend_tokenizer.to_str()
    assert bart.tokenizer.convert_ids_to_tokens(bart.tokenizer("wren")["input_ids"])[0] == "<s>"


def test_targets_have_the_pieces_of_their_own_side(bart, tmp_path):
    summaries = [row["summary"] for row in ROWS]
    assert bart.targets(summaries) == bart.tokens(summaries, 12)
    names = {"</s>": 0, "<unk>": 1}
    for side, text in (("source", "the cat sits there"), ("target", "größer läuft")):
        options = {"model_prefix": str(tmp_path / side), "hard_vocab_limit": False}
        lines = iter([text] * 50)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines, vocab_size=40, minloglevel=2, **options
        )
        pieces = sentencepiece.SentencePieceProcessor(model_file=f"{tmp_path / side}.model")
        for index in range(len(pieces)):
            names.setdefault(pieces.id_to_piece(index), len(names))
    names["<pad>"] = len(names)
    (tmp_path / "vocab.json").write_text(json.dumps(names))
    files = [str(tmp_path / name) for name in ("source.model", "target.model", "vocab.json")]
    marian = Encoder(bart.model, MarianTokenizer(*files), 40, 12)
    (example,) = marian.examples([{"article": "the cat", "summary": "größer läuft"}])
    assert marian.tokenizer.unk_token_id not in example.target + example.source


def test_a_vocabulary_without_room_for_bytes_is_refused():
    with pytest.raises(InputError, match="200 pieces, expected at least 261"):
        train_tokenizer(TEXTS, 200, BART_TOKENS, 40)


def test_batches_of_pairs_ignore_padding_and_end_what_is_cut(bart):
    examples = bart.examples(ROWS)
    batch = bart.batch(examples[:5])
    for row, example in enumerate(examples[:5]):
        n, m = len(example.source), len(example.target)
        assert n <= 40 and m <= 12 and example.target[-1] == bart.tokenizer.eos_token_id
        assert batch["input_ids"][row, :n].tolist() == example.source
        assert batch["attention_mask"][row].tolist() == [1] * n + [0] * (
            len(batch["input_ids"][row]) - n
        )
        assert batch["labels"][row, :m].tolist() == example.target
        assert (batch["labels"][row, m:] == IGNORED).all()
        start = bart.model.config.decoder_start_token_id
        given = batch["decoder_input_ids"][row].tolist()
        assert given[:m] == [start, *example.target[:-1]]
        # the end token of a shorter summary is an input, but not a label
        pad = bart.model.config.pad_token_id
        assert given[m:] == (
            [example.target[-1], *[pad] * (len(given) - m - 1)] if len(given) > m else []
        )


def test_windows_ask_for_every_token_of_running_text_once(gpt2):
    stream = gpt2.stream(TEXTS)
    batch = gpt2.batch(gpt2.running_text(TEXTS))
    asked = batch["labels"][batch["labels"] != IGNORED]
    assert asked.tolist() == stream[1:]
    given = batch["input_ids"][batch["attention_mask"].bool()]
    assert given.tolist() == stream[:-1]
    assert batch["input_ids"].shape[1] == 16


def test_text_begins_with_what_its_tokenizer_writes(gpt2):
    """Llama's tokenizer begins each text with <s>; without such a token, an end-of-text token stands before texts."""
    backend = Tokenizer.from_str(gpt2.tokenizer.backend_tokenizer.to_str())
    first = backend.token_to_id("a")
    backend.post_processor = TemplateProcessing("a $A", special_tokens=[("a", first)])
    llama = PreTrainedTokenizerFast(tokenizer_object=backend, **GPT2_TOKENS)
    stream, other = (
        replace(gpt2, tokenizer=one).stream(TEXTS[:2]) for one in (gpt2.tokenizer, llama)
    )
    begin = gpt2.tokenizer.eos_token_id
    assert [first if token == begin else token for token in stream] == other


def test_a_prefix_stands_before_articles_alone(bart):
    rows = ROWS[:3]
    prefixed = [{**row, "article": f"Sum: {row['article']}"} for row in rows]
    assert replace(bart, prefix="Sum: ").examples(rows) == bart.examples(prefixed)


def test_each_round_has_every_example_once_and_orders_differ(bart):
    examples = bart.examples(ROWS)
    settings = TrainingSettings(epochs=2, batch_size=4, accumulate=1)
    batches = Batches(bart, examples, settings, seed=3)
    assert (batches.updates, batches.per_round) == (12, 6)
    rounds = [np.concatenate(batches.round(number)).tolist() for number in (0, 1)]
    assert [sorted(order) for order in rounds] == [list(range(23))] * 2
    assert rounds[0] != rounds[1]
    other = Batches(bart, examples, settings, seed=4)
    assert np.concatenate(other.round(0)).tolist() != rounds[0]


@pytest.mark.parametrize("denoise", [False, True])
def test_a_batch_depends_on_its_number_alone_and_shares_add_up(bart, denoise):
    examples = bart.passages(TEXTS) if denoise else bart.examples(ROWS)
    noise = Noise.of(bart.tokenizer) if denoise else None
    batches = Batches(bart, examples, FAST, seed=3, noise=noise)
    found = [batches[number] for number in range(len(batches))]
    again = Batches(bart, examples, FAST, seed=3, noise=noise)
    for number in (11, 4):
        assert all(torch.equal(again[number][key], found[number][key]) for key in found[number])
    for first in range(0, len(batches), 2):
        labels = [int((batch["labels"] != IGNORED).sum()) for batch in found[first : first + 2]]
        shares = [float(batch["share"]) for batch in found[first : first + 2]]
        assert shares == pytest.approx([count / sum(labels) for count in labels])


def test_noise_masks_the_share_and_keeps_the_rest_in_order():
    mask, tokens = 999, list(range(200))
    noise = Noise(mask, frozenset())
    lengths = []
    for seed in range(50):
        noisy = noise.infill(tokens, np.random.default_rng(seed))
        kept = [token for token in noisy if token != mask]
        assert kept == sorted(kept) and len(kept) == 140
        lengths.append(noisy.count(mask))
    # 60 tokens in spans of mean length 3, cut at the end: about 20 masks
    assert np.mean(lengths) == pytest.approx(60 / 3, abs=1.5)
    assert noise.infill([], np.random.default_rng(1)) == []


def test_sentences_change_places_and_stay_whole(bart):
    tokenizer = bart.tokenizer
    text = "The wren sang. Did the owl sleep? The tit flew! And the rest"
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    noise = Noise.of(tokenizer)
    found = {
        tokenizer.decode(noise.permute(tokens, np.random.default_rng(seed))) for seed in range(200)
    }
    assert len(found) == 4 * 3 * 2
    parts = ["The wren sang.", " Did the owl sleep?", " The tit flew!", " And the rest"]
    assert all(part in one for one in found for part in parts)
    assert noise.permute([], np.random.default_rng(1)) == []
    first, last = 0, 2
    (noisy,) = noise.add([Example([first, *tokens, last], [])], np.random.default_rng(1))
    assert noisy.target == [first, *tokens, last]
    assert (noisy.source[0], noisy.source[-1]) == (first, last)
    assert noisy.source.count(noise.mask) and {*noisy.source} <= {*noisy.target, noise.mask}


def test_validation_goes_through_all_in_order(bart):
    examples = bart.examples(ROWS)
    batches = bart.batches(examples, 10)
    assert [len(batch["labels"]) for batch in batches] == [10, 10, 3]


def test_epochs_and_updates_exclude_each_other():
    assert TrainingSettings(epochs=3).updates_of(1280) == 30
    assert replace(TrainingSettings(epochs=1), epochs=None, updates=7).updates_of(9) == 7
    for settings in ({}, {"epochs": 1, "updates": 1}):
        with pytest.raises(InputError, match="either `epochs` or `updates`"):
            TrainingSettings(**settings)
