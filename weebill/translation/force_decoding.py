"""Forced decoding: the probability of given translations (WNGT20 §3 scores pairs in the reverse direction)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from weebill.corpus.scores.scoring import Scorer
from weebill.hugging_face.recognition import is_hugging_face
from weebill.translation.model.batch import make_batch
from weebill.translation.model.folder import load_model
from weebill.translation.model.network import Translator
from weebill.translation.running import ready
from weebill_runtime.names import SIDES
from weebill_runtime.options import length_sorted_batches, log_cut_count
from weebill_runtime.vocabulary import EOS, AnyVocabulary

MAX_PIECES = 200  # pieces that are read of each side
BATCHES = {"cpu": (128, 4096), "cuda": (2048, 65_536)}  # sentences; pieces of source plus target
# Target positions whose scores over the vocabulary are in memory at once.
SLICES = {"cpu": 1024, "cuda": 8192}


def load_reverse_scorer(
    folder: str | Path,
    device: str = "cpu",
    languages: tuple[str, str] | None = None,
    precision: str = "float32",
) -> Scorer:
    """Return a function from sources and targets to (rows,) mean log probabilities of the source given the target.

    folder: a model of Weebill or Hugging Face that translates target into source.  languages: source and target
    language, for multilingual Hugging Face models.  precision: as in `running.ready`; log probabilities are computed
    in float32.  Raises InputError if there is no such model.
    """
    if is_hugging_face(folder):
        from weebill.translation.hugging_face_translator import HuggingFaceTranslator  # slow

        translator = HuggingFaceTranslator(folder, device, languages and languages[::-1], precision)
        score = translator.force_decode
    else:
        model = load_model(folder)
        network = model.network if device == "cpu" else ready(model.network, device, precision)
        score = partial(mean_log_probabilities, network, model.vocabulary)
    return lambda sources, targets: score(targets, sources)


@torch.inference_mode()
def mean_log_probabilities(
    network: Translator, vocabulary: AnyVocabulary, inputs: Sequence[str], outputs: Sequence[str]
) -> np.ndarray:
    """Return (sentences,) float64: (1 / pieces) · log p(output | input); both sides are cut to MAX_PIECES."""
    given = zip(SIDES, (inputs, outputs), strict=True)
    sides = [_cropped(vocabulary.encode_input(list(text), side)) for side, text in given]
    lengths = [len(given) + len(output) for given, output in zip(*sides, strict=True)]
    means = np.zeros(len(lengths))
    device = network.embedding.weight.device
    size = SLICES[device.type]
    for rows in length_sorted_batches(lengths, *BATCHES[device.type]):
        batch = make_batch(*([side[row] for row in rows] for side in sides)).to(device)
        memory = network.encode(batch.source, batch.source_mask)
        hidden = network.decode(batch.decoder_input, memory, batch.source_mask)
        mask = batch.target_mask
        hidden, pieces = hidden[mask], batch.target[mask]  # (n, d), (n,)
        found = []
        for states, ids in zip(hidden.split(size), pieces.split(size), strict=True):
            logits = network.logits(states).float()
            found.append(logits.gather(1, ids[:, None])[:, 0] - logits.logsumexp(1))
        totals = torch.zeros(len(rows), dtype=torch.float64, device=device)
        totals.index_add_(0, mask.nonzero()[:, 0], torch.cat(found).double())
        means[rows] = (totals / mask.sum(1)).cpu().numpy()
    return means


def _cropped(sentences: list[list[int]]) -> list[list[int]]:
    long = sum(len(ids) > MAX_PIECES for ids in sentences)
    log_cut_count("scoring", long, len(sentences), MAX_PIECES)
    return [ids if len(ids) <= MAX_PIECES else [*ids[: MAX_PIECES - 1], EOS] for ids in sentences]
