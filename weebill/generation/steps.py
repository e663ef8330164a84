"""Steps that make a model smaller, each from one model folder to another, in any order (TEXTGEN §3).

A step is a frozen dataclass of its settings.  Unfinished training is kept in `OUTPUT.work` for the next call.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from weebill.errors import InputError
from weebill.files import content_hash, remove_folder, write_json
from weebill.generation.data import data_hash, read_part, task_of
from weebill.generation.distillation import (
    chosen_layers,
    distillation,
    distillation_loss,
    student_of,
)
from weebill.generation.encoding import Batch, Batches, Encoder
from weebill.generation.int8 import calibrated_scales, save_int8, weights_on_grid
from weebill.generation.models import LINEAGE, Generator, load_generator, model_hash, save_generator
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.generation.training import Course, Objective, likelihood, logits_of, train
from weebill.generation.vocabulary import check_vocabulary, prune_vocabulary
from weebill.hugging_face.families import prunable
from weebill.model_lineage import versions
from weebill.pruning.history import History
from weebill.pruning.method import part_of_blocks
from weebill.pruning.movement_gates import MovementGates, MovementScoring, cut_silent
from weebill.pruning.movement_settings import MovementShares
from weebill.workflow.code_version import code_of_module

SHARES = MovementShares(blocks="*")  # the paper prunes all blocks
SCHEDULE_POINTS = 200  # largest number of rows in a pruning's record


@dataclass(frozen=True)
class Place:
    """Inputs and output of a step: the model folder at its start, imported data, and the folder that it makes.

    max_source, max_target: tokens of articles (or of windows of running text) and summaries.
    measured: tokens of the longest texts in the measurements of the result, by the name of their setting.
    vocabulary_pruned: True if a step of the model's pipelines prunes the vocabulary, which is then checked at once.
    """

    model: Path
    data: Path
    output: Path
    seed: int = 1
    max_source: int = 512
    max_target: int = 128
    device: Device = field(default_factory=Device)
    measured: Mapping[str, int] = field(default_factory=dict)
    vocabulary_pruned: bool = False

    @property
    def work(self) -> Path:
        """Folder of unfinished work."""
        return self.output.with_name(f"{self.output.name}.work")

    def generator(self) -> Generator:
        """Load the model.  Raises InputError if it does not fit the data's task, or reads only shorter texts."""
        generator = load_generator(self.model)
        longest = {"max_source": self.max_source, **self.measured}
        if generator.pairs:
            longest["max_target"] = self.max_target
        generator.check(task_of(self.data), longest)
        if not generator.trainable:
            raise InputError(
                f"{self.model}: its weights are int8, which no step can go on from; let the step that "
                "makes them be the last"
            )
        if self.vocabulary_pruned:
            with placed(self.model):
                check_vocabulary(generator.model, generator.tokenizer)
        return generator

    def encoder(self, generator: Generator) -> Encoder:
        """Make the encoder of text into the model's tokens."""
        return Encoder(generator.model, generator.tokenizer, self.max_source, self.max_target)


@contextmanager
def placed(*places: Path) -> Iterator[None]:
    """Put folders before the message of an InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(map(str, places))}: {error}") from error


class Step:
    """Step from one model to a smaller one; one that trains the model has the settings `training`."""

    training: TrainingSettings

    def run(self, place: Place) -> None:
        """Make the folder `place.output`.  Raises InputError if model, data and settings do not fit."""
        raise NotImplementedError

    def lineage(self, place: Place, **more: Any) -> dict[str, Any]:
        """Return the entry for config.json: the step's settings, its parent, software, and more."""
        made = {"kind": type(self).__name__, "parent": model_hash(place.model)}
        return {**made, **asdict(self), "versions": versions(PACKAGES), **more}

    def batches(self, place: Place, generator: Generator) -> tuple[Batches, list[Batch]]:
        """Return the batches of training and validation text."""
        encoder = place.encoder(generator)
        with placed(place.model, place.data):
            examples, validation = (
                encoder.examples(read_part(place.data, part)) for part in ("train", "validation")
            )
        batches = Batches(encoder, examples, self.training, place.seed)
        return batches, encoder.batches(validation, self.training.batch_size)

    def train(
        self,
        place: Place,
        generator: Generator,
        text: tuple[Batches, list[Batch]] | None = None,
        **options: Any,
    ) -> Course:
        """Train a generator's model; text: of `batches`.  options: of `training.train`."""
        identity = {
            "step": type(self).__name__,
            "settings": asdict(self),
            "model": content_hash(place.model),
            "data": data_hash(place.data),
            "lengths": [place.max_source, place.max_target],
            "code": code_of_module(__name__),
        }
        text = text or self.batches(place, generator)
        how = {"work": place.work, "identity": identity, "device": place.device, **options}
        return train(generator.model, *text, **how)

    def save(self, place: Place, generator: Generator, course: Course, **more: Any) -> None:
        """Write the trained model with its lineage, and remove unfinished work."""
        data = data_hash(place.data)
        made = self.lineage(place, seed=place.seed, course=course.to_dict(), data=data, **more)
        save_generator(place.output, generator.model, generator.tokenizer, made)
        remove_folder(place.work)


@dataclass(frozen=True)
class FineTune(Step):
    """Train the model on the data's own labels."""

    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=30))

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        self.save(place, generator, self.train(place, generator))


@dataclass(frozen=True)
class Distil(Step):
    """Train a student with fewer layers to be like the model; see `distillation`.

    layers: number of evenly spaced layers, or a list of layers, for the encoder and the decoder each.
    """

    layers: int | Sequence[int] = (0, 2, 5, 7, 9, 11)
    loss: Mapping[str, Any] = field(default_factory=dict)  # a `preset`, and weights of its terms
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(epochs=100, weight_decay=0.0)
    )

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        teacher = place.generator()
        layers = chosen_layers(teacher.model, self.layers)
        loss = distillation_loss(**self.loss)
        student = replace(teacher, model=student_of(teacher.model, layers))
        objective = distillation(teacher.model, layers, loss)
        course = self.train(place, student, objective=objective)
        self.save(place, student, course, layers=layers, loss=asdict(loss))


@dataclass(frozen=True)
class Prune(Step):
    """Train while movement pruning masks heads and neurons, then cut them; see `pruning.movement_gates`.

    loss: as in `Distil`, with the unpruned model as the teacher; None: the loss of the labels alone, as in the paper.
    It also writes pruning.json next to the folder: the schedule, the scores, and the removed parts.
    """

    movement: MovementShares = SHARES
    loss: Mapping[str, Any] | None = None
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=32))

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        model = prunable(generator.model)
        # The best weights would be early, unpruned ones.
        step = replace(self, training=replace(self.training, keep="last"))
        text = step.batches(place, generator)
        updates = text[0].updates
        scoring = MovementScoring(**asdict(self.movement), prune_updates=updates, seed=place.seed)
        objective = self.objective(generator.model)
        gates = scoring.companion(model)
        course = step.train(place, generator, text, objective=objective, companion=gates)
        history = History(model, asdict(scoring))
        cut_silent(model, scoring, history)
        record = {**history.to_dict(), "schedule": _schedule(gates), "scores": _scores(gates)}
        write_json(place.output.with_name("pruning.json"), record)
        self.save(place, generator, course)

    def objective(self, model: PreTrainedModel) -> Objective:
        """Return the training objective for a model that is not pruned yet."""
        if self.loss is None:
            return likelihood
        stacks = prunable(model).layer_stacks()
        layers = {stack.name: list(range(len(stack.layers))) for stack in stacks}
        return distillation(student_of(model, layers), layers, distillation_loss(**self.loss))


def _schedule(gates: MovementGates) -> list[dict[str, float]]:
    """Return rows {"update", "heads", "neurons"} with the masked shares in the course of the training."""
    settings, updates = gates.settings, gates.settings.prune_updates
    step = max(1, updates // SCHEDULE_POINTS)
    rows = []
    for update in sorted({*range(1, updates + 1, step), updates}):
        row: dict[str, float] = {"update": update}
        for name, kind in gates.kinds.items():
            share = getattr(settings, name) * settings.progress(update)
            masked = part_of_blocks(share, kind.widths, settings.ranking)
            row[name] = masked / sum(kind.widths)
        rows.append(row)
    return rows


def _scores(gates: MovementGates) -> dict[str, dict[str, list[float]]]:
    """Return block name → the last score of each head or neuron, by kind."""
    found = {}
    for name, kind in gates.kinds.items():
        scores = kind.scores.detach().cpu().split(kind.widths)
        pairs = zip(kind.blocks, scores, strict=True)
        found[name] = {block.name: values.tolist() for block, values in pairs}
    return found


@dataclass(frozen=True)
class QuantizationAware(Step):
    """Train with weights rounded to 8 bits; the folder contains the rounded weights as float32."""

    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=20))

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        with weights_on_grid(generator.model):
            course = self.train(place, generator)
        self.save(place, generator, course)


@dataclass(frozen=True)
class PostTraining(Step):
    """Write the weights as int8 with a scale for each output, without training.

    activations: "each-token": at run time, each token is scaled by its own largest magnitude; otherwise a formula of
    `quantization.calibration`, on the activations of `examples` examples of the training text.
    """

    activations: str = "each-token"
    examples: int = 64

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        scales = None
        if self.activations != "each-token":
            encoder = place.encoder(generator)
            rows = encoder.examples(read_part(place.data, "train"))
            drawn = np.random.default_rng(place.seed).permutation(len(rows))[: self.examples]

            @torch.inference_mode()
            def work() -> None:
                for index in drawn:  # one example in each batch, because padding would count
                    logits_of(generator.model, encoder.batch([rows[index]]), use_cache=False)

            scales = calibrated_scales(generator.model, work, self.activations)
        made = {LINEAGE: self.lineage(place)}
        save_int8(generator.model, place.output, generator.tokenizer, scales, made)


@dataclass(frozen=True)
class PruneVocabulary(Step):
    """Keep the pieces that the data's training text uses and those that spell other text, without training."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        whole = generator.model.get_input_embeddings().weight.shape[0]
        texts = (text for row in read_part(place.data, "train") for text in row.values())
        with placed(place.model, place.data):
            tokenizer, kept = prune_vocabulary(generator.model, generator.tokenizer, texts)
        made = self.lineage(place, data=data_hash(place.data), pieces=[whole, len(kept)])
        save_generator(place.output, generator.model, tokenizer, made)


STEPS: dict[str, type[Step]] = {
    "fine-tune": FineTune,
    "distil": Distil,
    "movement": Prune,
    "quantization-aware": QuantizationAware,
    "post-training": PostTraining,
    "prune-vocabulary": PruneVocabulary,
}


def step_of(method: str, **settings: Any) -> Step:
    """Make the step of an entry of a configuration."""
    if "training" in settings:
        settings["training"] = TrainingSettings(**settings["training"])
    if method == "movement":
        names = {entry.name for entry in fields(MovementShares)} & settings.keys()
        chosen = {name: settings.pop(name) for name in names}
        settings["movement"] = replace(SHARES, **chosen)
    return STEPS[method](**settings)
