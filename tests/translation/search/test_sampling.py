"""Samples have the model's frequencies, do not depend on the batch, and have no improbable pieces."""

import itertools
import math
from collections import Counter

import pytest
import torch

from tests.runtime.conftest import network, sources
from weebill.kernels.extension import PORTABLE, available
from weebill.runtime.translator import Runtime
from weebill.translation.search import search
from weebill_runtime.options import Sampling, SearchOptions
from weebill_runtime.vocabulary import UNK

DRAWS = 4000


def options(count, length=40, batch_size=32, unknown=True, **sampling):
    return SearchOptions(
        nbest=count, length_factor=0.0, length_constant=length, batch_size=batch_size,
        allow_unknown=unknown, sampling=Sampling(**sampling),
    )  # fmt: skip


def distribution(model, source, temperature, epsilon):
    """Return the probability of every translation of at most one piece and the end, by its formula."""
    mask = torch.ones(1, len(source), dtype=torch.bool)
    state = model.start(model.encode(torch.tensor([source]), mask), mask)

    def shares(values):
        p = (values[0] / temperature).softmax(-1).double()
        p = torch.where((p >= epsilon) | (p == p.max()), p, 0.0)
        return p / p.sum()

    values, _ = model.step(torch.tensor([-1]), state)
    first = shares(values)
    return {() if piece == 0 else (piece,): p for piece, p in enumerate(first.tolist()) if p}


@pytest.mark.parametrize(("temperature", "epsilon"), [(1.0, 0.0), (1.0, 0.02), (0.5, 0.01)])
def test_pieces_are_drawn_as_often_as_they_are_probable(temperature, epsilon):
    model = network(pieces=12)
    source = [5, 3, 9, 0]
    with torch.inference_mode():
        expected = distribution(model, source, temperature, epsilon)
    how = options(DRAWS, length=2, temperature=temperature, epsilon=epsilon)
    (found,) = search([model], [source], how)
    counts = Counter(one.tokens for one in found)
    assert set(counts) <= set(expected) and len(expected) > 2
    chi_square = sum(
        (counts[tokens] - DRAWS * p) ** 2 / (DRAWS * p)
        for tokens, p in expected.items()
        if DRAWS * p > 5
    )
    assert chi_square < 3 * len(expected) + 15


def test_scores_are_those_of_the_search():
    model = network()
    source = sources()[3]
    (found,) = search([model], [source], options(5, temperature=0.3))
    mask = torch.ones(1, len(source), dtype=torch.bool)
    with torch.inference_mode():
        memory = model.encode(torch.tensor([source]), mask)
        for one in found:
            target = torch.tensor([[-1, *one.tokens]])
            log_p = model.logits(model.decode(target, memory, mask))[0].log_softmax(-1)
            chosen = log_p[range(len(one.tokens) + 1), [*one.tokens, 0]].sum().item()
            assert one.score == pytest.approx(chosen / (len(one.tokens) + 1), abs=1e-4)


def test_a_sentence_has_its_samples_in_any_batch():
    model = network()
    texts = [one for one in sources(12) if len(one) > 1]
    whole = search([model], texts, options(4))
    alone = list(itertools.chain.from_iterable(search([model], [one], options(4)) for one in texts))
    fewer = search([model], texts[::-1], options(4, batch_size=3))[::-1]
    tokens = [[one.tokens for one in some] for some in whole]
    assert tokens == [[one.tokens for one in some] for some in alone]
    assert tokens == [[one.tokens for one in some] for some in fewer]
    other = search([model], texts, options(4, seed=2))
    assert tokens != [[one.tokens for one in some] for some in other]
    assert all(len(set(some)) > 1 for some in tokens)


@pytest.mark.parametrize("isa", [*available()[:1], PORTABLE])
@pytest.mark.parametrize("kind", ["ssru", "attention"])
def test_the_runtime_draws_the_same(isa, kind):
    model = network(kind=kind)
    expected = search([model], sources(10), options(6, unknown=False))
    found = Runtime([model], isa).search(sources(10), options(6, unknown=False))
    same = [
        a.tokens == b.tokens
        for some, others in zip(found, expected, strict=True)
        for a, b in zip(some, others, strict=True)
    ]
    assert sum(same) >= 0.9 * len(same)  # rounding decides near a bound
    assert not any(1 in one.tokens for some in found for one in some)


def test_an_improbable_piece_is_drawn_rather_than_none():
    model = network()
    with torch.no_grad():
        model.embedding.weight.zero_()  # all pieces equally probable
    (found,) = search([model], [[4, 0]], options(20, length=3, epsilon=0.5))
    assert len(found) == 20 and all(math.isfinite(one.score) for one in found)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": 0.0}, "from 1e-06 to 1e\\+06, not 0.0"),
        ({"temperature": 1e-40}, "from 1e-06 to 1e\\+06, not 1e-40"),
        ({"temperature": math.inf}, "from 1e-06 to 1e\\+06, not inf"),
        ({"temperature": math.nan}, "from 1e-06 to 1e\\+06, not nan"),
        ({"epsilon": 1.0}, "below 1, not 1.0"),
        ({"epsilon": math.nan}, "below 1, not nan"),
        ({"seed": 2**63}, "below 9223372036854775808, not 9223372036854775808"),
        ({"seed": -1}, "at least 0 and below .*, not -1"),
    ],
)
def test_what_cannot_be_drawn_by(values, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**values)


@pytest.mark.parametrize(
    "values",
    [{"temperature": 1e-6}, {"temperature": 1e6}, {"epsilon": 5e-324}, {"seed": 2**63 - 1}],
)
def test_the_furthest_numbers_draw(values):
    (found,) = search([network()], [[4, 5, 0]], options(20, length=3, unknown=False, **values))
    assert len(found) == 20 and all(math.isfinite(one.score) for one in found)
    assert not any(UNK in one.tokens for one in found)
    if values == {"temperature": 1e-6}:
        assert len({one.tokens for one in found}) == 1, "what is most probable"
