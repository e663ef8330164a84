"""Slow reference scorer, the baseline of COMETINHO §3: padded batches, and every text of every segment encoded.

It uses the library's own encoder.  The fast scorer must give equal scores and is timed against it.  It has gradients.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from weebill.metric.architecture import RANKING, TEXTS, XCOMET
from weebill.metric.folder import Metric
from weebill.metric.joint import SCORE_SHARES, Segment, join
from weebill.metric.lengths import Lengths
from weebill.metric.network import features, nearness
from weebill.metric.pooling import pool_states
from weebill.metric.scorer import Systems

BATCH = 16  # segments, as in the paper


class PlainScorer:
    """Metric in float32 on the CPU, with all encoder layers of its architecture."""

    def __init__(
        self, metric: Metric, *, sort: bool = False, cache: bool = False, batch: int = BATCH
    ) -> None:
        """Take a metric.

        sort: batch segments in the order of their sources' lengths (§3, "length batching").  cache: encode each
        distinct text once in a call of `score` (§3, "caching"); texts that are encoded together are not cached.
        """
        self.metric, self.sort, self.batch = metric, sort, batch
        self._cache: dict[str, Tensor] | None = {} if cache else None
        self.needs_sources = "src" in metric.network.architecture.texts
        self.needs_references = metric.network.architecture.needs_references

    @torch.inference_mode()
    def score(
        self,
        systems: Systems,
        sources: Sequence[str] | None = None,
        references: Sequence[str] | None = None,
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations."""
        others = [text for text in (sources, references) if text is not None]
        order = list(range(len(others[0])))
        if self.sort:
            order.sort(key=lambda row: len(others[0][row]))
        if self._cache is not None:
            self._cache.clear()
        found = {name: np.empty(len(order), dtype=np.float32) for name in systems}
        for name, lines in systems.items():
            for start in range(0, len(order), self.batch):
                rows = order[start : start + self.batch]
                texts = [[text[row] for row in rows] for text in (lines, *others)]
                found[name][rows] = self.estimates(texts).numpy()
        return found

    def estimates(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return scores (segments,) of one batch: translations, their sources, and references if needed.

        A model that encodes the texts of a segment together returns the mean of its readings; XCOMET's mean is
        weighted and leaves out the errors found, which have no gradient.
        """
        network = self.metric.network
        if network.architecture.joint is not None:
            return self._together(texts)
        vectors = [self._vectors(lines) for lines in texts]
        if network.architecture.kind == RANKING:
            translation, *others = vectors
            return nearness(*(functional.pairwise_distance(translation, one) for one in others))
        return network.estimator(features(*vectors))

    def _together(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Return scores of segments that are encoded together; texts are in the architecture's order."""
        architecture = self.metric.network.architecture
        columns = dict(zip(architecture.texts, texts, strict=True))
        nothing = [None] * len(texts[0])
        segments = list(map(Segment, *(columns.get(name, nothing) for name in TEXTS)))
        joined = join(self.metric, [(one, ("", 0)) for one in segments])
        scores = self.metric.network.estimator(self._pooled(joined.sequences, joined.first))
        rows = [[joined.rows[key] for key in one.readings()] for one in segments]
        weights = scores.new_ones(len(rows[0]))
        if architecture.kind == XCOMET:
            weights = scores.new_tensor(SCORE_SHARES)
        return scores[torch.tensor(rows)] @ (weights / weights.sum())

    def _vectors(self, sentences: Sequence[str]) -> Tensor:
        """Return vectors (sentences, d)."""
        if self._cache is None:
            return self._encoded(sentences)
        missing = [one for one in dict.fromkeys(sentences) if one not in self._cache]
        if missing:
            self._cache.update(zip(missing, self._encoded(missing), strict=True))
        return torch.stack([self._cache[one] for one in sentences])

    def _encoded(self, sentences: Sequence[str]) -> Tensor:
        pieces, _ = self.metric.tokenizer.encode(sentences, self.metric.longest)
        return self._pooled(pieces)

    def _pooled(self, pieces: list[list[int]], first: list[int] | None = None) -> Tensor:
        """Return vectors (sequences, d) of padded pieces (sequences, longest); first: as in `Reader.read`."""
        network, tokenizer = self.metric.network, self.metric.tokenizer
        rows = [torch.tensor(one) for one in pieces]
        pad = network.encoder.config.pad_token_id
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
        lengths = torch.tensor([len(one) for one in rows])
        places = torch.arange(padded.shape[1])
        mask, types = places < lengths[:, None], {}
        if first is not None:
            types["token_type_ids"] = (places >= torch.tensor(first)[:, None]).long()
        states = network.encoder(padded, mask.long(), output_hidden_states=True, **types)
        # Pooled one after the other, shortest first, as `pool_states` requires.
        order = lengths.argsort(stable=True).tolist()
        flat = [
            torch.cat([state[row, : lengths[row]] for row in order])
            for state in states.hidden_states
        ]
        ids, ordered = (
            torch.cat([rows[row] for row in order]),
            Lengths([pieces[row] for row in order]),
        )
        weights = network.state_weights()
        pooled = pool_states(flat, weights, ids, ordered, network.architecture, tokenizer.pad)
        vectors = torch.empty_like(pooled)
        vectors[order] = pooled
        return vectors
