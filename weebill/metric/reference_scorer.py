"""Slow reference scorer, the baseline of COMETINHO §3: padded batches, and every text of every segment encoded.

It uses the library's own encoder.  The fast scorer must give equal scores and is timed against it.  Gradients pass.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from weebill.metric.encoding import Lengths, pool_states
from weebill.metric.folder import Metric
from weebill.metric.scorer import Systems, features

BATCH = 16  # segments, as in the paper


class PlainScorer:
    """Metric in float32 on the CPU, with all encoder layers of its architecture."""

    def __init__(self, metric: Metric, *, sort: bool = False, batch: int = BATCH) -> None:
        """Take a metric; sort: batch segments in the order of their sources' lengths (§3, "length batching")."""
        self.metric, self.sort, self.batch = metric, sort, batch
        self.needs_references = metric.network.architecture.needs_references

    @torch.inference_mode()
    def score(
        self, systems: Systems, sources: Sequence[str], references: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations."""
        order = list(range(len(sources)))
        if self.sort:
            order.sort(key=lambda row: len(sources[row]))
        others = [text for text in (sources, references) if text is not None]
        found = {name: np.empty(len(order), dtype=np.float32) for name in systems}
        for name, lines in systems.items():
            for start in range(0, len(order), self.batch):
                rows = order[start : start + self.batch]
                texts = [[text[row] for row in rows] for text in (lines, *others)]
                found[name][rows] = self.estimates(texts).numpy()
        return found

    def estimates(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return scores (segments,) of one batch: translations, their sources, and references if needed."""
        return self.metric.network.estimator(features(*map(self._vectors, texts)))

    def _vectors(self, sentences: Sequence[str]) -> Tensor:
        """Return vectors (sentences, d), encoded from padded pieces (sentences, longest)."""
        network, tokenizer = self.metric.network, self.metric.tokenizer
        pieces, _ = tokenizer.encode(sentences, self.metric.longest)
        rows = [torch.tensor(one) for one in pieces]
        pad = network.encoder.config.pad_token_id
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
        lengths = torch.tensor([len(one) for one in rows])
        mask = torch.arange(padded.shape[1]) < lengths[:, None]
        states = network.encoder(padded, mask.long(), output_hidden_states=True).hidden_states
        # Pooled one after the other, shortest first, as `pool_states` requires.
        order = lengths.argsort(stable=True).tolist()
        flat = [torch.cat([state[row, : lengths[row]] for row in order]) for state in states]
        ids, ordered = (
            torch.cat([rows[row] for row in order]),
            Lengths([pieces[row] for row in order]),
        )
        weights = network.state_weights()
        pooled = pool_states(flat, weights, ids, ordered, network.architecture, tokenizer.pad)
        vectors = torch.empty_like(pooled)
        vectors[order] = pooled
        return vectors
