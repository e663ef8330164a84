"""Alignments of a batch, compared with attention sentence by sentence; alignments moved to other pieces."""

import torch

from tests.pruning.toy import small_translator
from tests.small_models import TEXT, make_vocabulary, make_whole_vocabulary
from weebill.translation.model.network import START
from weebill.translation.training.alignments import Spans, alignments, moved, owners

SOURCES = [[5, 9, 30, 2, 0], [7, 0], [11, 12, 13, 0]]
TARGETS = [[8, 3, 0], [4, 6, 21, 33, 0], [9, 0]]


def by_hand(network, source, target):
    """Return the positions of most attention, by products of queries and keys of the last layer's first head."""
    seen = []
    attention = network.decoder_layers()[-1].cross_attention
    attention.record = lambda weights, queries: seen.append(weights)
    ids, inputs = torch.tensor([source]), torch.tensor([[START, *target[:-1]]])
    with torch.no_grad():
        mask = torch.ones_like(ids, dtype=torch.bool)
        network.decode(inputs, network.encode(ids, mask), mask)
    attention.record = None
    return [max(range(len(source)), key=row.tolist().__getitem__) for row in seen[-1][0, 0]][:-1]


def test_padding_and_order_change_nothing():
    for kind in ("ssru", "attention"):
        network = small_translator(kind)
        found = alignments(network, SOURCES, TARGETS)
        assert found == [by_hand(network, *pair) for pair in zip(SOURCES, TARGETS, strict=True)]


def test_spans_cover_the_text(tmp_path):
    vocabulary = make_whole_vocabulary(tmp_path / "vocab.spm")
    text = "A 😀 dog"
    pieces = [vocabulary.pieces[i] for i in vocabulary.encode([text])[0][:-1]]
    spans = Spans(vocabulary).of(text)
    assert len(spans) == len(pieces) and (spans[0][0], spans[-1][1]) == (0, len(text))
    emoji = [span for span, piece in zip(spans, pieces, strict=True) if piece.startswith("<0x")]
    assert emoji == [(2, 2)] * 3 + [(2, 3)]


def test_alignments_move_to_pieces_of_the_same_text():
    whole, halves = [(0, 4), (4, 8)], [(0, 2), (2, 4), (4, 6), (6, 8)]
    assert owners(halves, whole) == [0, 0, 1, 1] and owners(whole, halves) == [1, 3]
    links = [1, 2]  # the second target piece is linked with the end
    assert moved(links, (whole, halves), (whole, whole)) == [3, 4]
    assert moved(links, (whole, whole), (whole, halves)) == [1, 1, 2, 2]


def test_moved_to_equal_pieces_they_stay(tmp_path):
    spans = Spans(make_vocabulary(tmp_path / "vocab.spm"))
    for source, target in zip(TEXT[::2], TEXT[1::2], strict=True):
        sides = [(spans.of(line), spans.of(line)) for line in (source, target)]
        links = [number % len(sides[0][0]) for number in range(len(sides[1][0]))]
        found = moved(links, *sides)
        for number, place in enumerate(links):
            (begin, end), (first, after) = sides[0][0][place], sides[1][0][number]
            assert found[number] == place or begin == end or first == after
