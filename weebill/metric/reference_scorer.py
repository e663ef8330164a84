"""Slow reference scorer, the baseline of COMETINHO §3: padded batches, and every text of every segment encoded.

It uses the library's own encoder.  The fast scorer must give equal scores and is timed against it.  Gradients pass.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from weebill.metric.encoding import Lengths
from weebill.metric.folder import Metric
from weebill.metric.pooling import pool_states
from weebill.metric.scorer import features

BATCH = 16  # segments, as in the paper


class PlainScorer:
    """Metric in float32 on the CPU, with all encoder layers of its architecture."""

    def __init__(self, metric: Metric, *, sort: bool = False, batch: int = BATCH) -> None:
        """Take a metric; sort: batch segments in the order of their sources' lengths (§3, "length batching")."""
        self.metric, self.sort, self.batch = metric, sort, batch
        self.needs_references = metric.network.architecture.needs_references
        self._pad = metric.network.encoder.config.pad_token_id

    def score(
        self,
        systems: Mapping[str, Sequence[str]],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations."""
        order = list(range(len(sources)))
        if self.sort:
            order.sort(key=lambda row: len(sources[row]))
        with torch.inference_mode():
            return {
                name: self._system(lines, sources, references, order)
                for name, lines in systems.items()
            }

    def _system(
        self,
        translations: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None,
        order: list[int],
    ) -> np.ndarray:
        scores = np.empty(len(order), dtype=np.float32)
        texts = [text for text in (translations, sources, references) if text is not None]
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            scores[rows] = self.estimates([[text[row] for row in rows] for text in texts]).numpy()
        return scores

    def estimates(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return scores (segments,) of one batch: translations, their sources, and references if needed."""
        return self.metric.network.estimator(features(*map(self._vectors, texts)))

    def _vectors(self, sentences: Sequence[str]) -> Tensor:
        """Return vectors (sentences, d), encoded from padded pieces (sentences, longest)."""
        pieces, _ = self.metric.tokenizer.encode(sentences, self.metric.longest)
        rows = [torch.as_tensor(np.asarray(one, dtype=np.int64)) for one in pieces]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self._pad)
        lengths = torch.tensor([len(one) for one in rows])
        mask = torch.arange(padded.shape[1]) < lengths[:, None]
        network, architecture = self.metric.network, self.metric.network.architecture
        states = network.encoder(padded, mask.long(), output_hidden_states=True).hidden_states
        # Pooled one after the other, shortest first, as `pool_states` requires.
        order = lengths.argsort(stable=True).tolist()
        flat = torch.cat([rows[row] for row in order])
        pooled = pool_states(
            [torch.cat([state[row, : lengths[row]] for row in order]) for state in states],
            network.state_weights(),
            flat,
            Lengths.of([pieces[row] for row in order]),
            pool=architecture.piece_pool,
            layer_norm=architecture.normalises,
            pad=self.metric.tokenizer.pad,
        )
        vectors = torch.empty_like(pooled)
        vectors[order] = pooled
        return vectors
