"""Fast scorer: each different sentence is encoded once, even if several systems, sources or references contain it.

A sentence's vector depends only on the sentence, so texts share vectors, and a cache may keep them between runs.
Batches hold sentences of similar length and are bounded in pieces; the estimator is applied to many segments at
once.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

import numpy as np
import torch
from torch import Tensor

from weebill.errors import InputError, nearest
from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.extension import fastest
from weebill.kernels.split_linear import inference_linear, multiplies_by_bytes
from weebill.metric.cache import Vector, VectorCache
from weebill.metric.encoding import Lengths, RaggedEncoder
from weebill.metric.folder import Metric
from weebill.metric.network import Map
from weebill.metric.pooling import pool_states
from weebill.workflow.code_version import code_of_module

PRECISIONS = {  # with the type of the encoder's weights; int8 concerns linear maps only
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "int8": torch.float32,
}
# Larger batches are not faster on one core; on GPUs they are not measured yet.
BATCH_PIECES = {"cpu": 2048, "cuda": 16_384}
# Their float32 states stay in a near cache; larger batches are a third slower.
INT8_BATCH_PIECES = 512
SENTENCES = 4096  # sentences between two writes of the cache
SEGMENTS = 2048  # segments in one batch of the estimator
SHAPE = (  # properties of an encoder that its tensors do not show
    "model_type",
    "num_attention_heads",
    "hidden_act",
    "layer_norm_eps",
    "pad_token_id",
    "max_position_embeddings",
)

Text = tuple[str, Sequence[str]]  # its name, for messages, and its lines


class Scorer:
    """Metric prepared for scoring; weights are packed once and must not change."""

    def __init__(
        self,
        metric: Metric,
        precision: str = "float32",
        device: str = "cpu",
        cache: VectorCache | None = None,
        batch_pieces: int | None = None,
    ) -> None:
        """Pack a metric; precision: float32; bfloat16 in the encoder's products; int8 in its linear maps, on the CPU.

        Vectors and scores are always float32.
        batch_pieces: bound of a batch, except for a longer sentence; None: chosen by device and precision.
        Raises InputError for an unknown precision, and for int8 on a GPU.
        """
        if precision not in PRECISIONS:
            raise InputError(
                f"precision {precision!r}, expected {', '.join(PRECISIONS)}"
                f"{nearest(precision, PRECISIONS)}"
            )
        self.metric, self.precision, self.device = metric, precision, torch.device(device)
        if precision == "int8" and self.device.type != "cpu":
            raise InputError(
                f"precision int8 is computed on processors, not on {device}; take bfloat16 there"
            )
        self.needs_references = metric.network.architecture.needs_references
        self.cache = cache
        chosen = (
            INT8_BATCH_PIECES if precision == "int8" else BATCH_PIECES.get(self.device.type, 2048)
        )
        self._batch_pieces = batch_pieces or chosen

    def score(
        self,
        systems: Mapping[str, Sequence[str]],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        names: tuple[str, str] = ("sources", "references"),
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations, in float32.

        names: those of sources and references, for messages; a sentence that is cut is logged with its line.
        Raises InputError if line counts differ, references are missing or not needed, or a score is not finite.
        """
        texts = [(names[0], sources)]
        if references is not None:
            texts.append((names[1], references))
        self._check(texts, references is not None, systems)
        vectors, rows = self._vectors([*texts, *systems.items()])
        with torch.inference_mode():
            return {
                name: self._estimate(vectors, own, *rows[: len(texts)])
                for name, own in zip(systems, rows[len(texts) :], strict=True)
            }

    def vectors(self, *texts: Text) -> list[Tensor]:
        """Return float32 sentence vectors (lines, d) of each text; a sentence that is cut is logged with its line."""
        vectors, rows = self._vectors(texts)
        return [vectors[own] for own in rows]

    def _check(
        self, texts: list[Text], referenced: bool, systems: Mapping[str, Sequence[str]]
    ) -> None:
        """Raise InputError unless all texts have the same number of lines, and are those that the metric needs."""
        if self.needs_references and not referenced:
            raise InputError(f"{self.metric.name}: compares with references; give them")
        if referenced and not self.needs_references:
            raise InputError(f"{self.metric.name}: reads no references; leave them out")
        if not systems:
            raise InputError("no translations to score; name a file of them at least")
        counts = [(name, len(lines)) for name, lines in (*texts, *systems.items())]
        if len({count for _, count in counts}) > 1:
            told = ", ".join(f"{name} has {count:,}" for name, count in counts)
            raise InputError(f"numbers of lines differ: {told}; give one line per segment")
        if not counts[0][1]:
            raise InputError("the files are empty; give one segment at least")

    def _vectors(self, texts: Sequence[Text]) -> tuple[Tensor, list[Tensor]]:
        """Return vectors (u, d) of the different sentences, and for each text the row of each line."""
        places: dict[str, tuple[str, int]] = {}  # first place of a sentence
        for name, lines in texts:
            for number, line in enumerate(lines, start=1):
                places.setdefault(line, (name, number))
        found = {} if self.cache is None else self.cache.get(self.fingerprint, list(places))
        fresh = [text for text in places if text not in found]
        for start in range(0, len(fresh), SENTENCES):
            made = self._encode(fresh[start : start + SENTENCES])
            if self.cache is not None:
                self.cache.put(self.fingerprint, made)
            found |= made
        for text, (name, number) in places.items():
            if found[text].pieces > self.metric.longest:
                logging.warning(
                    "%s:%d: %d pieces, cut to the first %d, which is all that the metric reads",
                    *(name, number, found[text].pieces, self.metric.longest),
                )
        index = {text: row for row, text in enumerate(places)}
        vectors = torch.from_numpy(np.stack([found[text].values for text in places]))
        rows = [torch.tensor([index[line] for line in lines]) for _, lines in texts]
        return vectors.to(self.device), [one.to(self.device) for one in rows]

    def _encode(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of different sentences."""
        pieces, full = self.metric.tokenizer.encode(texts, self.metric.longest)
        found = {}
        with torch.inference_mode():
            for batch in _batches(pieces, self._batch_pieces):
                vectors = self._encode_batch([pieces[index] for index in batch])
                for index, values in zip(batch, vectors, strict=True):
                    found[texts[index]] = Vector(values, full[index])
        return found

    def _encode_batch(self, sentences: Sequence[Sequence[int]]) -> np.ndarray:
        """Encode sentences, which are in order of length → (sentences, d)."""
        lengths = Lengths.of(sentences)
        flat = np.concatenate([np.asarray(one, dtype=np.int64) for one in sentences])
        pieces = torch.from_numpy(flat).to(self.device)
        architecture = self.metric.network.architecture
        return (
            pool_states(
                self._encoder.states(pieces, lengths),
                self._weights,
                pieces,
                lengths,
                pool=architecture.piece_pool,
                layer_norm=architecture.normalises,
                pad=self.metric.tokenizer.pad,
            )
            .cpu()
            .numpy()
        )

    def _estimate(
        self,
        vectors: Tensor,
        translations: Tensor,
        sources: Tensor,
        references: Tensor | None = None,
    ) -> np.ndarray:
        """Return scores (segments,) of the sentences in some rows of `vectors`."""
        estimator = self.metric.network.estimator
        scores = []
        for start in range(0, len(translations), SEGMENTS):
            part = slice(start, start + SEGMENTS)
            mt, src = vectors[translations[part]], vectors[sources[part]]
            ref = None if references is None else vectors[references[part]]
            scores.append(estimator.apply_maps(features(mt, src, ref), self._estimator_maps))
        return finite(torch.cat(scores).cpu().numpy(), self.metric.name)

    @cached_property
    def _encoder(self) -> RaggedEncoder:
        dtype, depth = PRECISIONS[self.precision], len(self._weights) - 1
        isa = fastest() if self.precision == "int8" else None
        try:
            return RaggedEncoder(self.metric.network.encoder, dtype, depth, self.device, isa)
        except ValueError as error:
            raise InputError(f"{self.metric.name}: {error}; the model has diverged") from error

    @cached_property
    def _estimator_maps(self) -> list[Map]:
        return [
            inference_linear(
                one.weight.detach().to(self.device),
                one.bias.detach().to(self.device),
                rows=SEGMENTS,
            )
            for one in self.metric.network.estimator.linears
        ]

    @cached_property
    def _weights(self) -> Tensor:
        """Weights of the encoder states up to the last that is not zero; states above are not computed."""
        weights = self.metric.network.state_weights().detach()
        used = weights.nonzero()
        return weights[: int(used.max()) + 1 if len(used) else 1].cpu()

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything but the text that a vector depends on; of the tensors, not of a file.

        Other code and other processors' instructions give other last digits, so their vectors have other keys.
        """
        network = self.metric.network
        parts = {
            "architecture": network.architecture.to_dict(),
            "encoder": {name: getattr(network.encoder.config, name) for name in SHAPE},
            "tokenizer": self.metric.tokenizer.sha256,
            "precision": self.precision,
            "code": code_of_module(__name__),
            "torch": torch.__version__,
            "device": self.device.type,
            "instructions": [
                torch.backends.cpu.get_cpu_capability(),
                multiplies_bfloat16(),
                multiplies_by_bytes(),
                fastest() if self.precision == "int8" else None,
            ],
        }
        digest = sha256(json.dumps(parts, sort_keys=True).encode())
        for name, value in network.state_dict().items():
            if not name.startswith("estimator."):
                digest.update(f"{name} {tuple(value.shape)}".encode())
                digest.update(value.detach().cpu().contiguous().flatten().numpy().view(np.uint8))
        return digest.hexdigest()


def finite(scores: np.ndarray, metric: str) -> np.ndarray:
    """Return the scores unchanged.  Raises InputError if one is not finite."""
    if not np.isfinite(scores).all():
        raise InputError(
            f"{metric}: gives scores that are no numbers; the model has diverged, take another"
        )
    return scores


def features(translation: Tensor, source: Tensor, reference: Tensor | None = None) -> Tensor:
    """Return the estimator's input from vectors (n, d): (n, 6 · d), without references (n, 4 · d)."""
    with_source = (translation * source, (translation - source).abs())
    if reference is None:
        return torch.cat((translation, source, *with_source), 1)
    with_reference = (translation * reference, (translation - reference).abs())
    return torch.cat((translation, reference, *with_reference, *with_source), 1)


def _batches(sentences: Sequence[Sequence[int]], bound: int) -> Iterator[list[int]]:
    """Yield indices of sentences, in order of length, in batches of at most `bound` pieces."""
    batch: list[int] = []
    filled = 0
    for index in sorted(range(len(sentences)), key=lambda one: (len(sentences[one]), one)):
        size = len(sentences[index])
        if batch and filled + size > bound:
            yield batch
            batch, filled = [], 0
        batch.append(index)
        filled += size
    if batch:
        yield batch
