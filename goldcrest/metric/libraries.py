"""BERTScore and BLEURT by their own libraries, which live in unbabel-comet's environment (COMETINHO tables 1, 2)."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from goldcrest.errors import InputError
from goldcrest.files import sha256_file, sha256_text

BATCH = 64  # pairs
LIBRARIES = {"bert-score": "bert-score", "bleurt": "bleurt-pytorch"}


def library_scores(
    by: str,
    model: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    layer: int | None = None,
    device: str = "cpu",
) -> np.ndarray:
    """Scores (n,) of hypotheses beside their references; by: one of LIBRARIES.

    model: a folder of transformers' format.  layer: whose states BERTScore compares, counted from 1.
    Raises InputError where the library cannot read the model.
    """
    score = _bert_scores if by == "bert-score" else _bleurt_scores
    try:
        return score(model, list(hypotheses), list(references), layer, device)
    except (OSError, ValueError, KeyError, AssertionError, RuntimeError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{model}: {LIBRARIES[by]} cannot score by it ({first[0]})") from error


def library_signature(by: str, model: str, layer: int | None) -> str:
    """The library with its version, the model's hash, the layer.

    Raises InputError where there is no safetensors file.
    """
    files = sorted(Path(model).glob("*.safetensors"))
    if not files:  # the libraries would read pickles then
        raise InputError(f"{model}: no *.safetensors file; save the model again by save_pretrained")
    digest = sha256_text("".join(f"{sha256_file(file)}\n" for file in files))
    name = LIBRARIES[by]
    return f"{name}:{version(name)}|sha256:{digest}" + ("" if layer is None else f"|layer:{layer}")


def _bert_scores(model, hypotheses, references, layer, device) -> np.ndarray:
    """F1 of greedily matched states, without idf and rescaling."""
    from bert_score import BERTScorer

    scorer = BERTScorer(
        model_type=model,
        num_layers=layer,
        batch_size=BATCH,
        device=device,
        use_fast_tokenizer=True,
    )
    # A tokenizer that does not say how long a text may be lets it be longer than the positions.
    longest = scorer._model.config.max_position_embeddings - 2
    scorer._tokenizer.model_max_length = min(scorer._tokenizer.model_max_length, longest)
    _, _, f1 = scorer.score(hypotheses, references, batch_size=BATCH)
    return f1.double().numpy()


def _bleurt_scores(model, hypotheses, references, layer, device) -> np.ndarray:
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    tokenizer = BleurtTokenizer.from_pretrained(model, local_files_only=True)
    network = BleurtForSequenceClassification.from_pretrained(
        model, local_files_only=True, use_safetensors=True
    )
    network.to(device).eval()
    found = []
    with torch.inference_mode():
        for start in range(0, len(hypotheses), BATCH):
            part = slice(start, start + BATCH)
            given = tokenizer(
                references[part],
                hypotheses[part],
                padding="longest",
                truncation=True,
                max_length=network.config.max_position_embeddings,
                return_tensors="pt",
            )
            found.append(network(**given.to(device)).logits.flatten().cpu())
    return torch.cat(found).double().numpy()
