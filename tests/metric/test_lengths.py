"""Sums over sentences by their start positions, as on a GPU, compared with sums over each sentence alone."""

import pytest
import torch

from weebill.metric.lengths import Lengths, Segments

SIZES = [1, 2, 2, 5, 5, 5, 9]


@pytest.fixture(params=[Lengths, Segments])
def lengths(request):
    """Return the sentence lengths in both representations."""
    made = Lengths([[0] * size for size in SIZES])
    return made if request.param is Lengths else Segments(made, torch.device("cpu"))


def test_sums_of_each_sentence(lengths):
    torch.manual_seed(1)
    x = torch.randn(sum(SIZES), 6)
    each = x.double().split(SIZES)
    known = {
        "means": torch.stack([one.mean(0) for one in each]),
        "largest": torch.stack([one.amax(0) for one in each]),
        "first": torch.stack([one[0] for one in each]),
    }
    for name, wanted in known.items():
        torch.testing.assert_close(getattr(lengths, name)(x).double(), wanted, atol=1e-6, rtol=0)
    deviation, mean = lengths.spread(x)
    wanted = torch.stack([one.std(correction=0) for one in each])[:, None]
    torch.testing.assert_close(deviation.double(), wanted, atol=1e-6, rtol=0)
    wanted = torch.stack([one.mean() for one in each])[:, None]
    torch.testing.assert_close(mean.double(), wanted, atol=1e-6, rtol=0)
    repeated = torch.cat([one.expand(size, 1) for one, size in zip(mean, SIZES, strict=True)])
    assert torch.equal(lengths.repeat(mean), repeated)


def test_sentences_are_in_order():
    with pytest.raises(ValueError, match="not in the order"):
        Lengths([[0, 0], [0]])
