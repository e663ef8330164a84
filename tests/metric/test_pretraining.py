"""Pre-training of a small encoder: it learns, a killed run ends with the same bytes, and transformers reads it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoModel, XLMRobertaConfig, XLMRobertaModel

from tests.metric.small import REFERENCES, SOURCES
from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.metric import pretraining
from weebill.metric.pretraining import PretrainingSettings, Sentences, mask_pieces, pretrain
from weebill.metric.tokenizer import SentenceTokenizer, make_tokenizer

SMALL = PretrainingSettings(
    layers=2,
    heads=2,
    width=16,
    intermediate=24,
    positions=40,
    updates=9,
    batch_pieces=90,
    learning_rate=1e-2,
    warmup=2,
    checkpoint_every=3,
)


@pytest.fixture
def tokenizer(tmp_path):
    make_tokenizer(tmp_path / "tokenizer", [*SOURCES, *REFERENCES] * 3, 120)
    return tmp_path / "tokenizer"


def make(tmp_path, tokenizer, name, settings=SMALL, texts=(*SOURCES, "", *REFERENCES)):
    pretrain(settings, texts, tokenizer, tmp_path / name, seed=1)
    return tmp_path / name


def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path, tokenizer, monkeypatch):
    whole = make(tmp_path, tokenizer, "whole")
    asked = []

    def counted(*arguments, mortal):
        asked.append(arguments)
        if mortal and len(asked) == 8:
            raise KeyboardInterrupt
        return mask_pieces(*arguments)

    monkeypatch.setattr(pretraining, "mask_pieces", partial(counted, mortal=True))
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, tokenizer, "killed")
    monkeypatch.setattr(pretraining, "mask_pieces", partial(counted, mortal=False))
    asked.clear()
    resumed = make(tmp_path, tokenizer, "killed")
    assert len(asked) == 3  # updates 7, 8 and 9
    assert content_hash(resumed) == content_hash(whole)
    assert not (tmp_path / "killed.work").exists()
    assert content_hash(make(tmp_path, tokenizer, "other", replace(SMALL, warmup=1))) != (
        content_hash(whole)
    )


def test_the_library_takes_a_mask_as_for_gpus():
    """The states of real tokens are the same for masks (b, 1, 1, n) and (b, n)."""
    torch.manual_seed(1)
    config = XLMRobertaConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
    )
    model = XLMRobertaModel(config, add_pooling_layer=False).eval()
    pieces = torch.tensor([[0, 7, 8, 9, 2], [0, 7, 2, 1, 1]])
    whole = pieces != 1
    with torch.no_grad():
        wanted = model(pieces, attention_mask=whole)[0][whole]
        found = model(pieces, attention_mask=whole[:, None, None])[0][whole]
    torch.testing.assert_close(found, wanted)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_a_card_learns_what_the_cpu_learns(tmp_path, tokenizer, precision):
    settings = replace(SMALL, updates=60, dropout=0.0, checkpoint_every=20, precision=precision)
    losses = []
    for device in ("cpu", "cuda"):
        pretrain(settings, (*SOURCES, *REFERENCES), tokenizer, tmp_path / device, 1, device)
        losses.append(read_json(tmp_path / device / "pretraining.json")["losses"])
    print(precision, losses)
    np.testing.assert_allclose(*losses, rtol=0.03)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_learns(tmp_path, tokenizer, precision):
    settings = replace(SMALL, updates=90, dropout=0.0, checkpoint_every=30, precision=precision)
    folder = make(tmp_path, tokenizer, "encoder", settings)
    first, _, last = read_json(folder / "pretraining.json")["losses"]
    assert last < first - 0.3
    model = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
    assert all(value.isfinite().all() for value in model.parameters())
    assert model.config.vocab_size == SentenceTokenizer(tokenizer).size
    assert SentenceTokenizer(folder).sha256 == SentenceTokenizer(tokenizer).sha256


def test_pieces_that_are_asked_for():
    """15 % of the ordinary pieces are chosen: 80 % of them masked, 10 % replaced, 10 % kept."""
    torch.manual_seed(1)
    pieces = torch.randint(3, 1000, (400, 100))
    pieces[:, 0], pieces[:, -1], pieces[::2, -5:] = 0, 2, 1
    inputs, chosen = mask_pieces(pieces, 1000, 1001, 0.15)
    assert not chosen[pieces <= 2].any()
    assert (inputs == pieces)[~chosen].all()
    assert chosen.sum() / (pieces > 2).sum() == pytest.approx(0.15, abs=0.01)
    # No piece is replaced by a special one.
    assert ((inputs > 2) == (pieces > 2)).all()
    given, kept = inputs[chosen], pieces[chosen]
    assert (given == 1000).double().mean() == pytest.approx(0.8, abs=0.02)
    assert (given == kept).double().mean() == pytest.approx(0.1, abs=0.02)
    _, chosen = mask_pieces(torch.tensor([[0, 7, 2]]), 1000, 1001, 0.0)
    assert chosen.tolist() == [[False, True, False]]


def test_batches_hold_each_sentence_once_and_little_padding(tokenizer):
    texts = [" ".join(["Vogel"] * (1 + number % 30)) for number in range(900)]
    sentences = Sentences(texts, SentenceTokenizer(tokenizer), 38)
    stream = sentences.batches(200, seed=3, first=0)
    batches, seen = [], 0
    while seen < 900:
        batches.append(next(stream))
        seen += len(batches[-1])
    assert sorted(np.concatenate(batches)) == list(range(900))
    padded = sum(len(rows) * sentences.lengths[rows].max() for rows in batches)
    assert all(len(rows) * sentences.lengths[rows].max() <= 200 for rows in batches)
    assert padded < 1.05 * sentences.lengths.sum()
    later = sentences.batches(200, seed=3, first=len(batches) + 5)
    for _ in range(5):
        next(stream)
    np.testing.assert_array_equal(next(later), next(stream))


def test_text_that_is_empty(tmp_path, tokenizer):
    with pytest.raises(InputError, match="no text to pre-train on"):
        make(tmp_path, tokenizer, "one", texts=["", " "])


def test_a_loss_that_is_no_number_stops_the_training(tmp_path, tokenizer):
    with pytest.raises(
        InputError, match=r"the loss is nan in update [36]; lower the learning rate"
    ):
        make(tmp_path, tokenizer, "wild", replace(SMALL, learning_rate=1e30, warmup=1))
    assert not (tmp_path / "wild").exists()
