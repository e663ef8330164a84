"""Student and data for pruning methods, an implementation of `pruning.study.Study`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from weebill.corpus.table import read_columns
from weebill.errors import InputError
from weebill.files import content_hash
from weebill.pruning.study import CompanionSettings
from weebill.translation.model.batch import make_batch, pad
from weebill.translation.model.folder import Model, load_model, model_hash
from weebill.translation.model.network import Translator
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.train_from_scratch import new_network
from weebill.translation.training.train_in_subprocess import train_separately
from weebill.translation.training.trainer import Hardware, Training, TrainingConfig, train
from weebill.workflow.code_version import code_of_module

SENTENCES = 64  # batch size in `observe` and `gradients`


@dataclass(frozen=True)
class TranslationStudy:
    """Student to prune: the model folder of its checkpoint C, and its training data and settings.

    start: for a student trained from its first weights, any model of its final shape.
    config: settings of the unpruned student.  Its `updates` are the sum of those of C and of the last training, so
    that a pruned student sees no more text than the unpruned one.
    encoded: folder of encoded corpora that its trainings share; by default, each training encodes them again.
    """

    start: Path
    corpora: Sequence[Path]
    validation: Path
    config: TrainingConfig
    seed: int
    hardware: Hardware
    encoded: Path | None = None

    def identity(self) -> dict[str, Any]:
        """Return the hash of C's weights, which depend on corpus and seed, and all else that decides the results."""
        return {
            "start": model_hash(self.start),
            "validation": content_hash(self.validation),
            "training": asdict(self.config),
            "seed": self.seed,
            "hardware": asdict(self.hardware),
            "code": code_of_module(__name__),
        }

    def checkpoint(self, updates: int) -> Translator:
        """Return a fresh copy of C.

        Raises InputError if C has another number of updates, or if no updates are left after it.
        """
        model = self._load()
        made = model.config["lineage"]["course"]["updates"]
        if made != updates:
            raise InputError(f"{self.start}: made by {made:,} updates, not {updates:,}; remove it")
        if updates >= self.config.updates:
            raise InputError(
                f"pruning: reset_to {updates:,} leaves nothing of {self.config.updates:,} updates "
                "of training; lower it, or raise training.updates"
            )
        return model.network.train()

    def untrained(self) -> Translator:
        """Return a network with first weights in the shape of the model in `start`."""
        return new_network(self._load().network.architecture, self.seed, self.config.dropout)

    def train(
        self,
        model: Translator,
        *,
        start_update: int,
        updates: int | None,
        work: Path,
        companion: CompanionSettings | None = None,
    ) -> Training:
        """Implement `pruning.study.Study`; with a fixed number of updates, the training ends with the last weights.

        Raises InputError if no updates are left to converge.
        """
        if updates is None:
            if start_update >= self.config.updates:
                raise InputError(
                    f"pruning: its {start_update:,} updates leave nothing of {self.config.updates:,} updates "
                    "of training; prune in fewer, or raise training.updates"
                )
            config = replace(self.config, updates=self.config.updates - start_update)
        else:
            config = unwatched(self.config, updates)
        # Lightning can start the processes of other devices only once in one process.
        return (train_separately if self.hardware.processes > 1 else train)(
            model,
            self.corpora,
            self.validation,
            self._load().vocabulary,
            config,
            seed=self.seed,
            work=work,
            hardware=self.hardware,
            start_update=start_update,
            companion=companion,
            keep="last" if updates is not None else "best",
            encoded=self.encoded,
        )

    def observe(self, model: Translator) -> None:
        """Encode the validation sources; this does not run the decoder, so its attention is not recorded."""
        sources = read_columns(self.validation, ["source"])["source"].to_pylist()
        pieces = sorted(self._load().vocabulary.encode(sources), key=len)
        model.eval()
        with torch.inference_mode():
            for first in range(0, len(pieces), SENTENCES):
                model.encode(*pad(pieces[first : first + SENTENCES]))

    def gradients(self, model: Translator) -> Iterator[None]:
        """Yield after the backward pass of each batch of validation pairs; their target lengths are similar."""
        pairs = read_columns(self.validation, ["source", "target"]).to_pydict()
        vocabulary = self._load().vocabulary
        sides = (vocabulary.encode(pairs[side]) for side in ("source", "target"))
        pieces = sorted(zip(*sides, strict=True), key=lambda pair: len(pair[1]))
        model.eval()
        for first in range(0, len(pieces), SENTENCES):
            model.zero_grad()
            batch = make_batch(*zip(*pieces[first : first + SENTENCES], strict=True))
            batch_loss(model, batch, batch.words).backward()
            yield
        model.zero_grad()

    def _load(self) -> Model:
        return load_model(self.start, self.config.dropout)


def unwatched(config: TrainingConfig, updates: int) -> TrainingConfig:
    """Return the settings for a fixed number of updates, without validation."""
    return replace(config, updates=updates, validate_every=updates + 1, patience=0)
