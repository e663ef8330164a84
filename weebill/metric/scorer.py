"""Fast scorer: each different sentence is encoded once, even if several systems, sources or references contain it.

A sentence's vector depends only on the sentence, so texts share vectors, and a cache may keep them between runs.
Batches hold sentences of similar length and are bounded in pieces.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from weebill.errors import InputError, nearest
from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.extension import fastest
from weebill.kernels.split_linear import inference_linear, multiplies_by_bytes
from weebill.metric.cache import Vector, VectorCache
from weebill.metric.encoding import Lengths, RaggedEncoder, pool_states
from weebill.metric.folder import Metric, load_metric
from weebill.metric.network import Map
from weebill.workflow.code_version import code_of_module
from weebill_runtime.lines import checked_lines

# Types of the encoder's weights; int8 concerns linear maps only.
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int8": torch.float32}
# Larger batches are not faster on one core; on GPUs they are not measured yet.  The float32 states of int8's batches
# stay in a near cache; larger ones are a third slower.
BATCH_PIECES = {"cpu": 2048, "cuda": 16_384, "int8": 512}
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
Systems = Mapping[str, Iterable[str]]  # lines of translations by system
Progress = Callable[[int], None]


class Scorer:
    """Metric prepared for scoring; weights are packed once and must not change."""

    def __init__(
        self,
        metric: Metric | str | Path,
        precision: str = "float32",
        device: str = "cpu",
        cache: VectorCache | None = None,
        batch_pieces: int | None = None,
    ) -> None:
        """Pack a metric: one that is loaded, or what `load_metric` reads: a folder, a checkpoint, a name on the hub.

        precision: float32; bfloat16 in the encoder's products; int8 in its linear maps, on the CPU.
        batch_pieces: bound of a batch, except for a longer sentence; None: chosen by device and precision.
        Raises InputError for an unknown precision, for int8 on a GPU, and as `load_metric`.
        """
        if precision not in PRECISIONS:
            message = f"precision {precision!r}, expected {', '.join(PRECISIONS)}{nearest(precision, PRECISIONS)}"
            raise InputError(message)
        self.precision, self.device = precision, torch.device(device)
        if precision == "int8" and self.device.type != "cpu":
            raise InputError(
                f"precision int8 is computed on processors, not on {device}; take bfloat16 there"
            )
        self.metric = metric if isinstance(metric, Metric) else load_metric(metric)
        self.needs_references = self.metric.network.architecture.needs_references
        self.cache = cache
        kind = precision if precision == "int8" else self.device.type
        self._batch_pieces = batch_pieces or BATCH_PIECES.get(kind, 2048)

    def score(
        self,
        systems: Systems,
        sources: Iterable[str],
        references: Iterable[str] | None = None,
        names: tuple[str, str] = ("sources", "references"),
        progress: Progress = lambda sentences: None,
    ) -> dict[str, np.ndarray]:
        """Return scores (segments,) of each system's translations, in float32; higher is better.

        systems: lines of translations by the system's name; like sources and references, strings in any iterable.
        names: those of sources and references, for messages; a sentence that is cut is logged with its line.
        progress: called with the number of different sentences of each encoded batch.
        Raises InputError if these are no strings, or their numbers differ, references are missing or not needed, or a
        score is not finite.
        """
        if not isinstance(systems, Mapping):
            raise InputError(
                f"systems: found {systems!r:.60}, expected a dictionary of lines by name: {{'one': lines}}"
            )
        given = [(names[0], checked_lines(names[0], sources))]
        if references is not None:
            given.append((names[1], checked_lines(names[1], references)))
        texts = [*given, *((name, checked_lines(name, own)) for name, own in systems.items())]
        self._check(texts, references is not None, bool(systems))
        vectors, rows = self._vectors(texts, progress)
        with torch.inference_mode():
            return {
                name: self._estimate(vectors, own, *rows[: len(given)])
                for name, own in zip(systems, rows[len(given) :], strict=True)
            }

    def vectors(self, *texts: Text) -> list[Tensor]:
        """Return float32 sentence vectors (lines, d) of each text; a sentence that is cut is logged with its line."""
        vectors, rows = self._vectors(texts, lambda sentences: None)
        return [vectors[own] for own in rows]

    def _check(self, texts: list[Text], referenced: bool, translated: bool) -> None:
        """Raise InputError unless all texts have the same number of lines, and are those that the metric needs."""
        if self.needs_references and not referenced:
            raise InputError(f"{self.metric.name}: compares with references; give them")
        if referenced and not self.needs_references:
            raise InputError(f"{self.metric.name}: reads no references; leave them out")
        if not translated:
            raise InputError("no translations to score; name a file of them at least")
        if len({len(lines) for _, lines in texts}) > 1:
            told = ", ".join(f"{name} has {len(lines):,}" for name, lines in texts)
            raise InputError(f"numbers of lines differ: {told}; give one line per segment")
        if not texts[0][1]:
            raise InputError("the files are empty; give one segment at least")

    def _vectors(self, texts: Sequence[Text], progress: Progress) -> tuple[Tensor, list[Tensor]]:
        """Return vectors (u, d) of the different sentences, and for each text the row of each line."""
        places: dict[str, tuple[str, int]] = {}  # first place of a sentence
        for name, lines in texts:
            for number, line in enumerate(lines, start=1):
                places.setdefault(line, (name, number))
        found = {} if self.cache is None else self.cache.get(self.fingerprint, list(places))
        fresh = [text for text in places if text not in found]
        for start in range(0, len(fresh), SENTENCES):
            made = self._encode(fresh[start : start + SENTENCES], progress)
            if self.cache is not None:
                self.cache.put(self.fingerprint, made)
            found |= made
        longest = self.metric.longest
        for text, place in places.items():
            if (pieces := found[text].pieces) > longest:
                message = (
                    "%s:%d: %d pieces, cut to the first %d, which is all that the metric reads"
                )
                logging.warning(message, *place, pieces, longest)
        index = {text: row for row, text in enumerate(places)}
        vectors = torch.from_numpy(np.stack([found[text].values for text in places]))
        rows = [torch.tensor([index[line] for line in lines]) for _, lines in texts]
        return vectors.to(self.device), [one.to(self.device) for one in rows]

    def _encode(self, texts: Sequence[str], progress: Progress) -> dict[str, Vector]:
        """Return the vectors of different sentences."""
        pieces, full = self.metric.tokenizer.encode(texts, self.metric.longest)
        order = sorted(range(len(texts)), key=lambda index: len(pieces[index]))
        architecture, pad = self.metric.network.architecture, self.metric.tokenizer.pad
        found = {}
        for part in ranges([len(pieces[index]) for index in order], self._batch_pieces):
            sentences = [pieces[index] for index in order[part]]
            lengths = Lengths(sentences)
            flat = torch.tensor(list(chain.from_iterable(sentences)), device=self.device)
            with torch.inference_mode():
                states = self._encoder.states(flat, lengths)
                vectors = pool_states(states, self._weights, flat, lengths, architecture, pad)
            for index, values in zip(order[part], vectors.cpu().numpy(), strict=True):
                found[texts[index]] = Vector(values, full[index])
            progress(len(sentences))
        return found

    def _estimate(self, vectors: Tensor, *rows: Tensor) -> np.ndarray:
        """Return scores (segments,) by the rows in `vectors` of translations, sources and, if any, references."""
        estimator = self.metric.network.estimator
        scores = [
            estimator.apply_maps(features(*(vectors[own] for own in part)), self._estimator_maps)
            for part in zip(*(own.split(SEGMENTS) for own in rows), strict=True)
        ]
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
        place = self.device
        return [
            inference_linear(one.weight.to(place), one.bias.to(place), rows=SEGMENTS)
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
            "architecture": asdict(network.architecture),
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
    others = [source] if reference is None else [reference, source]
    pairs = ((translation * other, (translation - other).abs()) for other in others)
    return torch.cat((translation, others[0], *chain.from_iterable(pairs)), 1)


def ranges(sizes: Sequence[int], bound: int) -> Iterator[slice]:
    """Yield consecutive ranges whose sizes sum to at most `bound`; a larger one is a separate range."""
    begin, filled = 0, 0
    for number, size in enumerate(sizes):
        if number > begin and filled + size > bound:
            yield slice(begin, number)
            begin, filled = number, 0
        filled += size
    if sizes:
        yield slice(begin, len(sizes))


class Ensemble:
    """One or more metrics, whose score is the mean (COMETINHO §5: five metrics of different seeds)."""

    def __init__(
        self, models: Sequence[str], precision: str = "float32", device: str = "cpu"
    ) -> None:
        """Load metrics by `load_metric`.  Raises InputError as it does, and as `Scorer`."""
        self._members = [Scorer(model, precision, device) for model in models]
        self.sha256 = "+".join(one.metric.sha256 for one in self._members)
        self.needs_references = any(one.needs_references for one in self._members)

    def score(
        self,
        systems: Systems,
        sources: Sequence[str],
        references: Sequence[str],
        progress: Progress = lambda sentences: None,
    ) -> dict[str, np.ndarray]:
        """Return mean scores (segments,) of each system, in float64.  Raises InputError as `Scorer.score`."""
        found = [
            one.score(
                systems, sources, references if one.needs_references else None, progress=progress
            )
            for one in self._members
        ]
        each = {name: [scores[name] for scores in found] for name in systems}
        return {name: np.mean(own, axis=0, dtype=np.float64) for name, own in each.items()}
