"""Ensembles of networks that decode together, which all searches have in common."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

# Dropping finished sentences copies the memory of the others, so it waits until it saves this share.
FINISHED_SHARE = 0.125

ROWS = 32  # rows whose log probabilities are computed at once; the processor's cache holds them
DEVICE_ROWS = 2048  # the same on a GPU, where few large kernels are fast; it bounds memory


class Ensemble:
    """Networks whose log probabilities are averaged at each step; each has the interface of `network.Translator`.

    lasting: False if the weights change after this search, as in training.  decoder: memory and graphs on a GPU that
    only this search uses.
    """

    def __init__(self, networks: Sequence[nn.Module], lasting: bool = True) -> None:
        if not networks:
            raise ValueError("an ensemble needs at least one network")
        self.networks, self.lasting = list(networks), lasting
        self.decoder: Any = None

    def free(self) -> None:
        """Free the memory that only this search needs."""
        if self.decoder is not None:
            self.decoder.free()
            self.decoder = None

    def start(self, source: Tensor, mask: Tensor) -> list:
        """Encode (b, s) sources; return each decoder's state with one row per sentence."""
        return [network.start(network.encode(source, mask), mask) for network in self.networks]

    def step(self, tokens: Tensor, states: list) -> tuple[Tensor, list]:
        """Decode one step from the last pieces (rows,); return values (rows, V) and the new states.

        The values are the logits of a single network, or the averaged log probabilities of several, in float32.
        """
        values, states = self.scores(tokens, states)
        return values.float(), states

    def scores(self, tokens: Tensor, states: list) -> tuple[Tensor, list]:
        """Do the same as `step`, but leave a single network's logits in its type."""
        pairs = zip(self.networks, states, strict=True)
        results = [network.step(tokens, state) for network, state in pairs]
        states = [state for _, state in results]
        if len(results) == 1:
            return results[0][0], states
        total = sum(logits.float().log_softmax(-1) for logits, _ in results)
        return total / len(results), states

    def log_probabilities(self, values: Tensor, tokens: Tensor) -> Tensor:
        """Return log p of pieces (rows, n) as continuations of their rows, from `values` (rows, V): (rows, n).

        As in Marian, averaged log probabilities are not normalised: their exponentials sum to less than one.
        """
        if len(self.networks) > 1:
            return values.gather(1, tokens)
        most = ROWS if values.device.type == "cpu" else DEVICE_ROWS
        parts = zip(values.split(most), tokens.split(most), strict=True)
        return torch.cat([rows.log_softmax(-1).gather(1, chosen) for rows, chosen in parts])
