"""Division of the concatenated pieces of a batch into its sentences, and means and other sums of each sentence.

The CPU computes all sentences of one length together.  On a GPU, that would be many small kernels, and the GPU would
wait between them; there, `Segments` computes all sentences by one kernel, from the places where they begin.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from torch import Tensor

from weebill.kernels.cuda import to_device

EPSILON = 1e-12  # added to a variance


class Lengths:
    """Division of the n pieces of a batch into groups of sentences of one length, the shorter ones first."""

    def __init__(self, sentences: Sequence[Sequence[int]]) -> None:
        """Group sentences, which are in order of length.  Raises ValueError if they are not."""
        self.each = [len(sentence) for sentence in sentences]
        if self.each != sorted(self.each):
            raise ValueError("sentences are not in the order of their lengths")
        self.groups = [(count, length) for length, count in Counter(self.each).items()]
        self.device = torch.device("cpu")

    def on(self, device: torch.device) -> "Lengths":
        """Return the division as it is used on a device."""
        return self if device.type == "cpu" else Segments(self, device)

    def split(self, x: Tensor) -> Iterator[Tensor]:
        """Split x (n, …) into one (sentences, length, …) for each length."""
        parts = x.split([count * length for count, length in self.groups])
        for part, group in zip(parts, self.groups, strict=True):
            yield part.unflatten(0, group)

    def means(self, x: Tensor) -> Tensor:
        """Return the mean of each sentence's rows, x (n, …) → (sentences, …)."""
        return torch.cat([one.mean(1) for one in self.split(x)])

    def largest(self, x: Tensor) -> Tensor:
        """Return the largest numbers of each sentence's rows, x (n, …) → (sentences, …)."""
        return torch.cat([one.amax(1) for one in self.split(x)])

    def first(self, x: Tensor) -> Tensor:
        """Return the first row of each sentence, x (n, …) → (sentences, …)."""
        return torch.cat([one[:, 0] for one in self.split(x)])

    def spread(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return standard deviation and mean of all numbers of a sentence, x (n, d) → (sentences, 1) each."""
        found = [torch.var_mean(one, (1, 2), correction=0, keepdim=True) for one in self.split(x)]
        variance, mean = (torch.cat(one).squeeze(2) for one in zip(*found, strict=True))
        return (variance + EPSILON).sqrt(), mean

    def repeat(self, x: Tensor) -> Tensor:
        """Return a sentence's row for each of its pieces, x (sentences, …) → (n, …)."""
        return x.repeat_interleave(torch.tensor(self.each), 0)


class Segments(Lengths):
    """Division by the places where sentences begin.

    offsets (sentences + 1,): these places and the end, int32 on the device.  longest: pieces of the longest sentence.
    """

    def __init__(self, lengths: Lengths, device: torch.device) -> None:
        self.each, self.groups, self.device = lengths.each, lengths.groups, device
        self.longest = self.each[-1]
        places = torch.tensor([0, *accumulate(self.each)], dtype=torch.int32)
        self.offsets = to_device(places, device)
        numbers = torch.arange(len(self.each), dtype=torch.int32)
        self._sentences = to_device(super().repeat(numbers), device)  # (n,): sentence of each piece

    def means(self, x: Tensor) -> Tensor:
        return self._reduced(x, "mean")

    def largest(self, x: Tensor) -> Tensor:
        return self._reduced(x, "max")

    def first(self, x: Tensor) -> Tensor:
        return x[self.offsets[:-1]]

    def spread(self, x: Tensor) -> tuple[Tensor, Tensor]:
        variance, mean = torch.var_mean(x, 1, correction=0, keepdim=True)  # of each piece
        whole = self.means(mean)
        variance = self.means(variance + (mean - self.repeat(whole)) ** 2)
        return (variance + EPSILON).sqrt(), whole

    def repeat(self, x: Tensor) -> Tensor:
        return x[self._sentences]

    def _reduced(self, x: Tensor, kind: str) -> Tensor:
        # Lengths are right; a check on the device would make the process wait.
        return torch.segment_reduce(x.contiguous(), kind, offsets=self.offsets, unsafe=True)
