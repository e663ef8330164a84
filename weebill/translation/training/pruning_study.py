"""Pruning of a student: its data and trainings for any method, and the pruned model's folder."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from weebill.corpus.table import read_columns
from weebill.errors import InputError, explain
from weebill.files import content_hash, read_json, remove_folder, write_json, write_text
from weebill.model_lineage import lineage
from weebill.pruning.method import Method
from weebill.pruning.methods import companion_from_dict, companion_to_dict
from weebill.pruning.study import CompanionSettings
from weebill.replaceable import check_replaceable
from weebill.translation.model.batch import make_batch, pad
from weebill.translation.model.folder import KIND, Model, load_model, model_hash, save_model
from weebill.translation.model.network import Translator
from weebill.translation.training.loss import batch_loss
from weebill.translation.training.settings import Hardware, TrainingConfig
from weebill.translation.training.trainer import Training, new_network, train, unwatched
from weebill.workflow.code_version import code_of_module
from weebill.workflow.parent_watch import end_with_parent
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary

SENTENCES = 64  # batch size in `observe` and `gradients`
FAULT = "fault.txt"  # in a work folder: message of a failed training, for its parent process


@dataclass(frozen=True)
class TranslationStudy:
    """Student to prune, a `pruning.study.Study`: the model folder of its checkpoint C, training data and settings.

    start: folder of C; for a student trained from initial weights, any model of its final shape.
    config: of the unpruned student; `updates` is the sum of the updates of C and of the last training, so that pruned
    and unpruned students train on equally much text.
    encoded: folder of encoded corpora that trainings share; by default, each training encodes them again.
    """

    start: Path
    corpora: Sequence[str | Path]
    validation: str | Path
    config: TrainingConfig
    seed: int
    hardware: Hardware
    encoded: Path | None = None

    def identity(self) -> dict[str, Any]:
        """Return the hashes of C's weights and of the text, and everything else that determines the results."""
        return {
            "start": model_hash(self.start),
            "corpora": list(
                map(content_hash, self.corpora)
            ),  # a published C depends on none of them
            "validation": content_hash(self.validation),
            "training": asdict(self.config),
            "seed": self.seed,
            "hardware": asdict(self.hardware),
            "code": code_of_module(__name__),
        }

    def checkpoint(self, updates: int) -> Translator:
        """Return a fresh copy of C.  Raises InputError if it has other updates, or if none are left after it."""
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
        """Return a network with initial weights in the shape of the model in `start`."""
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
        """Implement `pruning.study.Study`.  Raises InputError if no updates are left to converge."""
        if updates is not None:
            config, keep = unwatched(self.config, updates), "last"
        elif start_update < self.config.updates:
            config, keep = self.config.part(self.config.updates - start_update), "best"
        else:
            raise InputError(
                f"pruning: its {start_update:,} updates leave nothing of {self.config.updates:,} updates "
                "of training; prune in fewer, or raise training.updates"
            )
        data = self.corpora, self.validation, self._load().vocabulary, config
        options = {"seed": self.seed, "start_update": start_update, "keep": keep}
        options |= {"hardware": self.hardware, "encoded": self.encoded and str(self.encoded)}
        run = train_separately if self.hardware.processes > 1 else train
        return run(model, *data, work=work, companion=companion, **options)

    def observe(self, model: Translator) -> None:
        """Encode the validation sources; this does not run the decoder, so its attention is not recorded."""
        pieces = sorted(self._validation_pieces()[0], key=len)
        model.eval()
        with torch.inference_mode():
            for first in range(0, len(pieces), SENTENCES):
                model.encode(*pad(pieces[first : first + SENTENCES]))

    def gradients(self, model: Translator) -> Iterator[None]:
        """Yield after the backward pass of each batch of validation pairs; target lengths in a batch are similar."""
        pieces = sorted(zip(*self._validation_pieces(), strict=True), key=lambda pair: len(pair[1]))
        model.eval()
        for first in range(0, len(pieces), SENTENCES):
            model.zero_grad()
            batch = make_batch(*zip(*pieces[first : first + SENTENCES], strict=True))
            batch_loss(model, batch, batch.words).backward()
            yield
        model.zero_grad()

    def _validation_pieces(self) -> list[list[list[int]]]:
        pairs = read_columns(self.validation, ["source", "target"]).to_pydict()
        vocabulary = self._load().vocabulary
        return [vocabulary.encode_input(pairs[side], side) for side in SIDES]

    def _load(self) -> Model:
        return load_model(self.start, self.config.dropout)


def make_pruned(
    output: Path, history: Path, recipe: str, method: Method, study: TranslationStudy
) -> None:
    """Prune a study's student by a method; write the model folder `output` and the pruning's record `history`.

    Unfinished work in `OUTPUT.work` is continued.
    Raises InputError if the method does not fit, and errors of `train`.
    """
    check_replaceable(output, KIND)
    work = output.with_name(f"{output.name}.work")
    pruned = method.prune(replace(study, encoded=study.encoded or work / "encoded"), work)
    steps = {"recipe": recipe, **pruned.history["settings"]}
    more = {"parent": model_hash(study.start), "pruning": steps}
    made = lineage("pruned", study.config, study.seed, pruned.course, **more)
    write_json(history, pruned.history)
    save_model(output, pruned.model, load_model(study.start).vocabulary, made)
    remove_folder(work)


def train_separately(
    network: Translator,
    corpora: Sequence[str | Path],
    validation: str | Path,
    vocabulary: AnyVocabulary,
    config: TrainingConfig,
    *,
    work: Path,
    hardware: Hardware,
    companion: CompanionSettings | None = None,
    **options: Any,
) -> Training:
    """Run `trainer.train` with its plain `options` in a separate process.

    On several devices, Lightning starts the command of the present process again for each device, so a process can
    run only one such training; pruning trains many times.  Raises InputError if that process finds errors of the
    input or the disk, and subprocess.CalledProcessError if it fails otherwise.
    """
    order = {
        "corpora": list(map(str, corpora)),
        "validation": str(validation),
        "config": asdict(config),
        "hardware": asdict(hardware),
        "companion": companion and companion_to_dict(companion),
        "options": options,
    }
    save_model(work / "before", network, vocabulary, {"kind": "unfinished"})
    write_json(work / "order.json", order)
    fault = work / FAULT
    fault.unlink(missing_ok=True)
    training = subprocess.run([sys.executable, "-m", __name__, str(work)])
    if fault.exists():
        raise InputError(fault.read_text(encoding="utf-8"))
    training.check_returncode()
    after = load_model(work / "after")
    network.load_state_dict(after.network.state_dict())
    network.guided = after.network.guided
    network.eval()
    course = after.config["lineage"]["course"]
    return Training(course["updates"], course["history"])


def _train_as_ordered(work: Path) -> None:
    order = read_json(work / "order.json")
    config = TrainingConfig(**order["config"])
    before = load_model(work / "before", config.dropout)
    data = before.network, order["corpora"], order["validation"], before.vocabulary, config
    hardware = Hardware(**order["hardware"])
    companion = order["companion"] and companion_from_dict(order["companion"])
    options = {"hardware": hardware, "companion": companion, **order["options"]}
    training = train(*data, work=work / "training", **options)
    made = {"kind": "unfinished", "course": training.to_dict()}
    save_model(work / "after", before.network, before.vocabulary, made)


if __name__ == "__main__":
    end_with_parent()
    place = Path(sys.argv[1])
    try:
        _train_as_ordered(place)
    except Exception as error:
        line = explain(error)
        if line is None:
            raise
        write_text(place / FAULT, line)
        sys.exit(1)
