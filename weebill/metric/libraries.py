"""BERTScore and BLEURT by their own libraries, in unbabel-comet's environment (COMETINHO tables 1, 2)."""

from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel

from weebill.errors import InputError
from weebill.files import sha256_files
from weebill.hugging_face.loading import POOLER, pretrained_model, pretrained_tokenizer
from weebill.metric.judgements import require_references

BATCH = 64  # pairs
LIBRARIES = {"bert-score": "bert-score", "bleurt": "bleurt-pytorch"}


def library_scores(
    library: str,
    model: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    layer: int | None = None,
    device: str = "cpu",
) -> np.ndarray:
    """Score hypotheses against their references, (n,); library: one of LIBRARIES.

    model: a folder in transformers' format, with safetensors.  layer: the one whose states BERTScore compares,
    from 1.  Raises InputError if the library cannot use the model, the model brings code, or references are
    missing.
    """
    require_references(references, model)
    try:
        bert = library == "bert-score"
        scorer = _BertScore(model, layer, device) if bert else _Bleurt(model, device)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{model}: no model for {LIBRARIES[library]} ({first[0]})") from error
    return scorer(list(hypotheses), list(references))


def library_signature(library: str, model: str, layer: int | None) -> str:
    """Return the library with its version, the model's hash and the layer.

    Raises InputError if there is no safetensors file.
    """
    files = sorted(Path(model).glob("*.safetensors"))
    if not files:  # the libraries would read pickles
        raise InputError(f"{model}: no *.safetensors file; save the model again by save_pretrained")
    name = LIBRARIES[library]
    told = f"{name}:{version(name)}|sha256:{sha256_files(files)}"
    return told if layer is None else f"{told}|layer:{layer}"


class _BertScore:
    """F1 of greedily matched states, without idf and rescaling.

    The library's own loading depends on words in the model's path, and may fetch; its scoring takes any encoder.
    """

    def __init__(self, model: str, layer: int | None, device: str) -> None:
        self._tokenizer = pretrained_tokenizer(model)
        network, _ = pretrained_model(AutoModel, model, may_lack=POOLER)
        layers = network.encoder.layer
        if layer is not None and layer > len(layers):
            raise InputError(f"{model}: layer {layer} of {len(layers)}; name one that it has")
        network.encoder.layer = layers[:layer]
        self._network = network.to(device).eval()
        # A tokenizer without a maximum length allows texts longer than the positions, of which RoBERTa and
        # XLM-R use those after the one of padding.
        padding = network.embeddings.position_embeddings.padding_idx
        longest = network.config.max_position_embeddings - (0 if padding is None else padding + 1)
        self._tokenizer.model_max_length = min(self._tokenizer.model_max_length, longest)

    def __call__(self, hypotheses: list[str], references: list[str]) -> np.ndarray:
        """Return scores (n,)."""
        from bert_score.utils import bert_cos_score_idf

        weights: dict[int, float] = defaultdict(lambda: 1.0)
        weights |= dict.fromkeys((self._tokenizer.sep_token_id, self._tokenizer.cls_token_id), 0.0)
        _, _, f1 = bert_cos_score_idf(
            self._network,
            references,
            hypotheses,
            self._tokenizer,
            weights,
            batch_size=BATCH,
            device=self._network.device,
        ).T
        return f1.double().numpy()


class _Bleurt:
    """BLEURT's regression over a reference followed by its hypothesis."""

    def __init__(self, model: str, device: str) -> None:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

        self._tokenizer = pretrained_tokenizer(model, BleurtTokenizer, types=False)
        network, _ = pretrained_model(BleurtForSequenceClassification, model, types=False)
        self._network = network.to(device).eval()

    def __call__(self, hypotheses: list[str], references: list[str]) -> np.ndarray:
        """Return scores (n,)."""
        found = []
        with torch.inference_mode():
            for start in range(0, len(hypotheses), BATCH):
                part = slice(start, start + BATCH)
                given = self._tokenizer(
                    references[part],
                    hypotheses[part],
                    padding="longest",
                    truncation=True,
                    max_length=self._network.config.max_position_embeddings,
                    return_tensors="pt",
                )
                output = self._network(**given.to(self._network.device))
                found.append(output.logits.flatten().cpu())
        return torch.cat(found).double().numpy()
