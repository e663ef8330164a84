"""Training of a model from seeded weights to a model folder with its lineage."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from weebill.experiment.shapes import Architecture
from weebill.files import remove_folder
from weebill.model_lineage import lineage
from weebill.replaceable import check_replaceable
from weebill.translation.model.folder import KIND, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.training.trainer import TrainingConfig, train


def new_network(architecture: Architecture, seed: int, dropout: float = 0.0) -> Translator:
    """Make a network whose first weights depend only on the architecture and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Translator(architecture, dropout)


def make_model(
    output: Path,
    kind: str,
    entry: Mapping[str, Any],
    vocabulary: str | Path,
    corpora: Sequence[str | Path],
    validation: str | Path,
    config: TrainingConfig,
    *,
    seed: int,
    **options: Any,
) -> None:
    """Train a model of a zoo entry from seeded weights and write its folder; options: others of `train`.

    Unfinished training is kept in `OUTPUT.work` and continued by the next call.  Raises InputError as `train` does.
    """
    check_replaceable(output, KIND)
    pieces = Vocabulary(vocabulary)
    network = new_network(Architecture.from_zoo(entry, len(pieces)), seed, config.dropout)
    work = output.with_name(f"{output.name}.work")
    training = train(network, corpora, validation, pieces, config, seed=seed, work=work, **options)
    save_model(output, network, pieces, lineage(kind, config, seed, training))
    remove_folder(work)


def unwatched(config: TrainingConfig, updates: int) -> TrainingConfig:
    """Return the settings for a fixed number of updates, without validation."""
    return replace(config, updates=updates, validate_every=updates + 1, patience=0)
