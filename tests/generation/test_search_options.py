"""Changes of scores during the search are those of the library."""

import pytest
import torch
from transformers.generation import MinLengthLogitsProcessor, SuppressTokensLogitsProcessor

from weebill.generation.search_options import Banned


@pytest.mark.parametrize("tokens", [[3], [0, 7, 7], [9, 10, 11], []], ids=str)
@pytest.mark.parametrize("length", [1, 4, 5])
def test_banned_tokens_are_those_of_the_library(tokens, length):
    """Tokens that the vocabulary of 10 lacks are left out, as in the library."""
    torch.manual_seed(1)
    ids, scores = torch.zeros(2, length, dtype=torch.long), torch.randn(2, 10)
    ends = torch.tensor(tokens, dtype=torch.long)
    for ours, theirs in (
        (Banned(ends), SuppressTokensLogitsProcessor(tokens)),
        (Banned(ends, 5), MinLengthLogitsProcessor(5, ends)),
    ):
        assert torch.equal(ours(ids, scores.clone()), theirs(ids, scores))


def test_negative_and_fractional_tokens():
    scores = torch.zeros(1, 4)
    assert Banned(torch.tensor([-1]))(torch.zeros(1, 1), scores.clone()).tolist() == [[0.0] * 4]
    with pytest.raises(TypeError, match=r"\[1\.5\]: expected numbers of tokens"):
        Banned(torch.tensor([1.5]))
