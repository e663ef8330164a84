"""Ensembles: one or several networks with one vocabulary, decoding together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain

import torch
from torch import Tensor, nn

# Dropping finished sentences copies the memory of the others, so it waits until it saves this share.
FINISHED_SHARE = 0.125

ROWS = 32  # rows whose log probabilities are computed at once; the processor's cache holds them


class Ensemble:
    """Networks whose log probabilities are averaged at each step.

    Each has `encode`, `start` and `step`, and a state with `select` and `keep`, like
    `network.Translator`.
    """

    def __init__(self, networks: Sequence[nn.Module]) -> None:
        if not networks:
            raise ValueError("an ensemble needs at least one network")
        self.networks = list(networks)

    @property
    def device(self) -> torch.device:
        """Device of the first network."""
        first = self.networks[0]
        return next(
            (t.device for t in chain(first.parameters(), first.buffers())), torch.device("cpu")
        )

    def start(self, source: Tensor, mask: Tensor) -> "States":
        """Encode (b, s) sources; return the decoders' states with one row per sentence."""
        return States(
            [network.start(network.encode(source, mask), mask) for network in self.networks]
        )

    def step(self, tokens: Tensor, states: "States") -> tuple[Tensor, "States"]:
        """Take the last pieces (rows,); return values (rows, V) and the new states.

        The values are the logits of a single network, or the averaged log probabilities of
        several; `log_probabilities` handles both.
        """
        results = [
            network.step(tokens, state)
            for network, state in zip(self.networks, states.each, strict=True)
        ]
        after = States([state for _, state in results])
        if len(results) == 1:
            return results[0][0].float(), after
        total = results[0][0].float().log_softmax(-1)
        for logits, _ in results[1:]:
            total += logits.float().log_softmax(-1)
        return total.div_(len(results)), after

    def log_probabilities(self, values: Tensor, tokens: Tensor) -> Tensor:
        """Return log p of pieces (rows, n) as continuations of their rows, from `values` (rows, V): (rows, n).

        The average of log probabilities is not normalised, as in Marian, though its exponentials
        sum to less than one.
        """
        if len(self.networks) > 1:
            return values.gather(1, tokens)
        return torch.cat(
            [
                rows.log_softmax(-1).gather(1, chosen)
                for rows, chosen in zip(values.split(ROWS), tokens.split(ROWS), strict=True)
            ]
        )


class States:
    """Decoder states of an ensemble's networks."""

    def __init__(self, each: list) -> None:
        self.each = each

    def select(self, rows: Tensor) -> "States":
        """Let new row i continue old row rows[i] of the same sentence."""
        return States([state.select(rows) for state in self.each])

    def keep(self, sentences: Tensor) -> "States":
        """Keep only these sentences, with all their rows."""
        return States([state.keep(sentences) for state in self.each])


@contextmanager
def evaluating(networks: Sequence[nn.Module]) -> Iterator[None]:
    """Evaluate without dropout and gradients within the context; restore each network's mode after it."""
    training = [network.training for network in networks]
    try:
        for network in networks:
            network.eval()
        with torch.inference_mode():
            yield
    finally:
        for network, mode in zip(networks, training, strict=True):
            network.train(mode)
