"""Vectors of sentences: each different one is encoded once, and a cache may keep vectors between runs.

A vector depends only on its sentence and the model, so texts share vectors.
"""

import json
import logging
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from hashlib import sha256

import numpy as np
import torch
from torch import Tensor

from weebill.kernels.cpu_matmul import multiplies_bfloat16
from weebill.kernels.extension import fastest
from weebill.kernels.split_linear import multiplies_by_bytes
from weebill.metric.cache import Vector, VectorCache
from weebill.metric.overlap import in_parts
from weebill.metric.reader import Progress, Reader
from weebill.workflow.code_version import code_of_module

SHAPE = (  # properties of an encoder that its tensors do not show
    "model_type",
    "num_attention_heads",
    "hidden_act",
    "layer_norm_eps",
    "pad_token_id",
    "max_position_embeddings",
)

Text = tuple[str, Sequence[str]]  # its name, for messages, and its lines


class SentenceVectors:
    """Vectors of a reader's model; the `cache`, if there is one, keeps those that were made."""

    def __init__(self, reader: Reader, cache: VectorCache | None = None) -> None:
        self._reader, self.cache = reader, cache
        self._metric, self._device = reader.metric, reader.device

    def of(self, texts: Sequence[Text], progress: Progress) -> tuple[Tensor, list[Tensor]]:
        """Return vectors (u, d) of the different sentences, and for each text the row of each line.

        A sentence that is cut is logged with its line.
        """
        places: dict[str, tuple[str, int]] = {}  # first place of a sentence
        for name, lines in texts:
            for number, line in enumerate(lines, start=1):
                places.setdefault(line, (name, number))
        found = {} if self.cache is None else self.cache.get(self.fingerprint, list(places))
        fresh = [text for text in places if text not in found]
        encode = partial(self._metric.tokenizer.encode, longest=self._metric.longest)
        begin = partial(self._encode, progress=progress)
        for made in in_parts(fresh, encode, begin, self._device.type):
            if self.cache is not None:
                self.cache.put(self.fingerprint, made)
            found |= made
        longest = self._metric.longest
        for text, place in places.items():
            if (pieces := found[text].pieces) > longest:
                message = (
                    "%s:%d: %d pieces, cut to the first %d, which is all that the metric reads"
                )
                logging.warning(message, *place, pieces, longest)
        index = {text: row for row, text in enumerate(places)}
        vectors = torch.from_numpy(np.stack([found[text].values for text in places]))
        rows = [torch.tensor([index[line] for line in lines]) for _, lines in texts]
        return vectors.to(self._device), [one.to(self._device) for one in rows]

    def _encode(
        self, texts: Sequence[str], pieces: tuple[list[list[int]], list[int]], progress: Progress
    ) -> Callable[[], dict[str, Vector]]:
        """Begin to encode sentences by their pieces; return a function that waits for their vectors."""
        kept, full = pieces
        finish = self._reader.begin(kept, progress)
        return lambda: {
            text: Vector(reading.vector, count)
            for text, reading, count in zip(texts, finish(), full, strict=True)
        }

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything except the text that a vector depends on; it covers the tensors, not a file.

        Other code and other processors' instructions give other last digits, so their vectors have other keys.
        """
        network = self._metric.network
        on_gpu = self._device.type == "cuda"
        card = torch.cuda.get_device_name(self._device) if on_gpu else None
        parts = {
            "architecture": network.architecture.to_dict(),
            "encoder": {name: getattr(network.encoder.config, name) for name in SHAPE},
            "tokenizer": self._metric.tokenizer.sha256,
            "precision": self._reader.precision,
            "code": code_of_module(__name__),
            "torch": torch.__version__,
            "device": self._device.type,
            "card": card,
            "instructions": [
                torch.backends.cpu.get_cpu_capability(),
                multiplies_bfloat16(),
                multiplies_by_bytes(),
                fastest() if self._reader.precision == "int8" else None,
            ],
        }
        digest = sha256(json.dumps(parts, sort_keys=True).encode())
        for name, value in network.state_dict().items():
            if not name.startswith("estimator."):
                digest.update(f"{name} {tuple(value.shape)}".encode())
                digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        return digest.hexdigest()
