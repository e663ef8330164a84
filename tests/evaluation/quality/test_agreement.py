"""Positions where translations differ, and differences explained by float32 rounding."""

import pytest
import torch

from tests.small_models import make_network
from weebill.evaluation.quality.agreement import differences
from weebill.translation.model.network import START
from weebill.translation.search import greedy
from weebill_runtime.options import SearchOptions
from weebill_runtime.vocabulary import EOS

PIECES = 40
OPTIONS = SearchOptions()


@pytest.fixture
def network():
    """Make a network whose translations reach the length limit."""
    model = make_network(PIECES)
    with torch.no_grad():
        model.output.bias[EOS] = -5.0
    return model


def sources():
    draw = torch.Generator().manual_seed(3)
    return [[*torch.randint(2, PIECES, (n,), generator=draw).tolist(), EOS] for n in (3, 9, 5)]


def test_equal_translations_differ_nowhere(network):
    own = greedy([network], sources(), OPTIONS)
    assert differences(network, sources(), own, own, OPTIONS) == []


def test_a_difference_is_found_and_weighed_where_it_begins(network):
    own = greedy([network], sources(), OPTIONS)
    other = [list(one) for one in own]
    other[1][2] = other[1][2] % (PIECES - 2) + 2  # another piece, and then other pieces
    other[1][3:] = [2, 3]
    other[2] = other[2][:-1]  # ends a piece too early
    first, second = differences(network, sources(), other, own, OPTIONS)
    assert (first.sentence, first.position) == (1, 2)
    assert (second.sentence, second.position) == (2, len(own[2]) - 1)
    for found, piece in ((first, other[1][2]), (second, EOS)):
        assert found.gap == pytest.approx(gap(network, found, own, piece), abs=1e-4)
        assert found.gap > 0.01
        assert not found.tie


def gap(network, found, own, piece):
    """Return the same gap in score, computed by the steps of a search."""
    with torch.inference_mode():
        source = torch.tensor([sources()[found.sentence]])
        mask = torch.ones_like(source, dtype=torch.bool)
        state = network.start(network.encode(source, mask), mask)
        expected = own[found.sentence]
        for last in [START, *expected[: found.position]]:
            logits, state = network.step(torch.tensor([last]), state)
    return float(logits[0, expected[found.position]] - logits[0, piece])


def test_pieces_that_score_alike_are_a_tie(network):
    """Two pieces with the same embedding and bias have equal logits, except for rounding."""
    piece = greedy([network], sources(), OPTIONS)[0][0]
    twin = piece + 1 if piece + 1 < PIECES else piece - 1
    with torch.no_grad():
        network.embedding.weight[twin] = network.embedding.weight[piece] * (1 + 1e-7)
        network.output.bias[twin] = network.output.bias[piece]
    own = greedy([network], sources()[:1], OPTIONS)
    other = [[twin if own[0][0] != twin else piece, *own[0][1:]]]
    (found,) = differences(network, sources()[:1], other, own, OPTIONS)
    assert found.position == 0
    assert abs(found.gap) < 1e-5
    assert found.tie
