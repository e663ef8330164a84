"""Training of a model from seeded weights to a model folder with its lineage."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from weebill.experiment.shapes import Architecture
from weebill.files import remove_folder
from weebill.model_lineage import lineage
from weebill.replaceable import check_replaceable
from weebill.translation.model.folder import KIND, save_model
from weebill.translation.model.network import Translator
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.training.trainer import Hardware, TrainingConfig, train


def new_network(architecture: Architecture, seed: int, dropout: float = 0.0) -> Translator:
    """Make a network whose first weights depend only on the architecture and the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Translator(architecture, dropout)


def make_model(
    output: Path,
    kind: str,
    entry: Mapping[str, Any],
    vocabulary: Path,
    corpora: Sequence[Path],
    validation: Path,
    config: TrainingConfig,
    *,
    seed: int,
    hardware: Hardware,
    tensorboard: Path | None = None,
    keep: Literal["best", "last"] = "best",
) -> None:
    """Train a model of a zoo entry from seeded weights and write its folder; keep: as in `train`.

    Unfinished training is kept in `OUTPUT.work` and continued by the next call.  Raises InputError as `train` does.
    """
    check_replaceable(output, KIND)
    pieces = Vocabulary(vocabulary)
    architecture = Architecture.from_zoo(entry, len(pieces))
    network = new_network(architecture, seed, config.dropout)
    work = output.with_name(output.name + ".work")
    training = train(
        network,
        corpora,
        validation,
        pieces,
        config,
        seed=seed,
        work=work,
        hardware=hardware,
        tensorboard=tensorboard,
        keep=keep,
    )
    save_model(output, network, pieces, lineage(kind, config, seed, training))
    remove_folder(work)
