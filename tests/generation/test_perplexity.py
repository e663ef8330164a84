"""Perplexity: closed forms, windows compared with a loop, and every token counted once."""

import math

import pytest
import torch

from tests.generation.small import SHAPES, article
from weebill.errors import InputError
from weebill.generation.models import Generator, load_generator
from weebill.generation.perplexity import surprise
from weebill.generation.train_from_scratch import GPT2_TOKENS, new_model, train_tokenizer

TEXTS = [article(number)["article"] for number in range(6)]


@pytest.fixture
def generator(tmp_path) -> Generator:
    tokenizer = train_tokenizer(TEXTS, 300, GPT2_TOKENS, 40)
    model = new_model(SHAPES["gpt2"], tokenizer, 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return Generator(tmp_path, model, tokenizer)


def test_a_model_that_knows_nothing_is_as_surprised_as_its_vocabulary_is_large(generator):
    with torch.no_grad():
        generator.model.transformer.ln_f.weight.zero_()
        generator.model.transformer.ln_f.bias.zero_()
    vocabulary = len(generator.tokenizer)
    for window, stride in ((16, 16), (16, 5), (40, 40)):
        found = surprise(generator, TEXTS, window, stride)
        assert found.perplexity == pytest.approx(vocabulary)
        tokens = found.tokens.sum()
        size = len("".join(TEXTS).encode()) + len(TEXTS) - 1  # with separators
        bits = tokens * math.log2(vocabulary) / size
        assert found.bits_per_byte == pytest.approx(bits)


@pytest.mark.parametrize(("window", "stride"), [(16, 16), (16, 4), (13, 5), (40, 7), (8, 1)])
def test_each_token_is_predicted_once_from_what_its_window_shows(generator, window, stride):
    end = generator.tokenizer.eos_token_id
    tokens = [generator.tokenizer(text)["input_ids"] for text in TEXTS]
    stream = [token for text in tokens for token in (end, *text)]
    total, scored, start = 0.0, 0, 0
    while scored < len(stream) - 1:
        stop = min(start + window, len(stream) - 1)
        with torch.inference_mode():
            logits = generator.model(torch.tensor([stream[start:stop]])).logits[0].double()
        for place in range(max(start, scored), stop):
            total -= float(logits[place - start].log_softmax(0)[stream[place + 1]])
        scored, start = stop, start + stride
    found = surprise(generator, TEXTS, window, stride, batch_size=3)
    assert found.tokens.sum() == len(stream) - 1
    assert found.totals.sum() == pytest.approx(total, rel=1e-5)
    assert found.perplexity == pytest.approx(math.exp(total / (len(stream) - 1)), rel=1e-5)


def test_logits_that_are_not_finite(generator):
    with torch.no_grad():
        generator.model.transformer.ln_f.weight.fill_(torch.inf)
    with pytest.raises(InputError, match="logits that are not finite"):
        surprise(generator, TEXTS, 16, 16)


def test_windows_that_cannot_be(generator):
    with pytest.raises(InputError, match=r"perplexity\.window: 41 tokens, but .* has 40 positions"):
        surprise(generator, TEXTS, 41, 8)
    with pytest.raises(InputError, match="stride 9, expected 1 to the window's 8"):
        surprise(generator, TEXTS, 8, 9)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no text to score"),
        (["", ""], "no text to score"),
        ("one text", "texts: found 'one text', expected a list of strings"),
        (["a", None], "texts: line 2 is None, expected a string"),
    ],
)
def test_texts_that_cannot_be(generator, texts, message):
    with pytest.raises(InputError, match=message):
        surprise(generator, texts, 8, 8)


def test_an_encoder_decoder_is_refused(made):
    other = load_generator(made["bart"][0])
    with pytest.raises(InputError, match="encoder-decoder; language-modelling needs a decoder"):
        surprise(other, TEXTS, 8, 8)
