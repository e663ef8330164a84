"""BERTScore and BLEURT by their own libraries, in unbabel-comet's environment (COMETINHO tables 1, 2)."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel

from weebill.errors import InputError, first_line
from weebill.files import sha256_files
from weebill.hugging_face.loading import POOLER, pretrained_model, pretrained_tokenizer
from weebill.kernels.cuda import avoid_slow_attention
from weebill.metric.judgements import require_references

BATCH = 64  # pairs
Score = Callable[[list[str], list[str]], Tensor]  # of hypotheses and references
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

    model: a folder in transformers' format, with safetensors.  layer: that whose states BERTScore compares, from 1.
    Raises InputError if the library cannot use the model, the model contains code, or references are missing.
    """
    require_references(references, model)
    avoid_slow_attention()
    try:
        score = (
            _bert_score(model, layer, device) if library == "bert-score" else _bleurt(model, device)
        )
    except (OSError, ValueError, KeyError, AttributeError) as error:
        told = f"{model}: no model for {LIBRARIES[library]} ({first_line(error)})"
        raise InputError(told) from error
    return score(list(hypotheses), list(references)).double().numpy()


def library_signature(library: str, model: str, layer: int | None) -> str:
    """Return the library's version, the model's hash and the layer.  Raises InputError without a safetensors file."""
    files = sorted(Path(model).glob("*.safetensors"))
    if not files:  # the libraries would read pickles
        raise InputError(f"{model}: no *.safetensors file; save the model again by save_pretrained")
    name = LIBRARIES[library]
    told = f"{name}:{version(name)}|sha256:{sha256_files(files)}"
    return told if layer is None else f"{told}|layer:{layer}"


def _bert_score(model: str, layer: int | None, device: str) -> Score:
    """Load the F1 of greedily matched states, without idf and rescaling, for any encoder.

    The library's own loading depends on words in the model's path, and may fetch files.
    """
    tokenizer = pretrained_tokenizer(model)
    network, _ = pretrained_model(AutoModel, model, may_lack=POOLER)
    layers = network.encoder.layer
    if layer is not None and layer > len(layers):
        raise InputError(f"{model}: layer {layer} of {len(layers)}; name one that it has")
    network.encoder.layer = layers[:layer]
    network = network.to(device).eval()
    # A tokenizer without a maximum length allows texts longer than the positions.  RoBERTa and XLM-R use only
    # the positions after that of padding.
    padding = network.embeddings.position_embeddings.padding_idx
    longest = network.config.max_position_embeddings - (0 if padding is None else padding + 1)
    tokenizer.model_max_length = min(tokenizer.model_max_length, longest)

    def score(hypotheses: list[str], references: list[str]) -> Tensor:
        from bert_score.utils import bert_cos_score_idf

        weights: dict[int, float] = defaultdict(lambda: 1.0)
        weights |= dict.fromkeys((tokenizer.sep_token_id, tokenizer.cls_token_id), 0.0)
        texts = (references, hypotheses)
        options = {"batch_size": BATCH, "device": network.device}
        _, _, f1 = bert_cos_score_idf(network, *texts, tokenizer, weights, **options).T
        return f1

    return score


def _bleurt(model: str, device: str) -> Score:
    """Load BLEURT's regression over a reference followed by its hypothesis."""
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    tokenizer = pretrained_tokenizer(model, BleurtTokenizer, types=False)
    tokenizer.padding_side = "right"  # positions count from the left
    network, _ = pretrained_model(BleurtForSequenceClassification, model, types=False)
    network = network.to(device).eval()
    options = {"padding": "longest", "truncation": True, "return_tensors": "pt"}
    options["max_length"] = network.config.max_position_embeddings

    @torch.inference_mode()
    def score(hypotheses: list[str], references: list[str]) -> Tensor:
        found = []
        for start in range(0, len(hypotheses), BATCH):
            part = slice(start, start + BATCH)
            given = tokenizer(references[part], hypotheses[part], **options).to(network.device)
            found.append(network(**given).logits.flatten().cpu())
        return torch.cat(found)

    return score
