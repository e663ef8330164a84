"""Steps that make a model smaller, each from one model folder to another, in any order (TEXTGEN §3).

A step is a frozen dataclass of its settings; `STEPS` names them for configurations.  Unfinished training is kept in
`OUTPUT.work` and continued by the next call.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from transformers import PreTrainedModel

from weebill.errors import InputError, nearest
from weebill.files import content_hash, remove_folder, write_json
from weebill.generation.data import data_hash, read_part, task_of
from weebill.generation.distillation import (
    chosen_layers,
    distillation,
    distillation_loss,
    every_layer,
    student_of,
)
from weebill.generation.encoding import Batches, Encoder, validation_batches
from weebill.generation.int8 import calibrated_scales, save_int8
from weebill.generation.models import (
    LINEAGE,
    Generator,
    load_generator,
    model_hash,
    save_generator,
)
from weebill.generation.movement import cut_and_record
from weebill.generation.quantized_training import weights_on_grid
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.generation.training import Course, Objective, likelihood, logits_of, train
from weebill.generation.vocabulary import check_vocabulary, prune_vocabulary
from weebill.hugging_face.families import prunable
from weebill.model_lineage import lineage, versions
from weebill.pruning.movement_gates import MovementScoring
from weebill.pruning.movement_settings import MovementShares
from weebill.workflow.code_version import code_of_module

EACH_TOKEN = "each-token"
SHARES = MovementShares(blocks="*")  # the paper prunes all blocks


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

    def identity(self, step: "Step") -> dict[str, Any]:
        """Return plain values that identify all that the step's result depends on."""
        return {
            "step": type(step).__name__,
            "settings": asdict(step),
            "model": content_hash(self.model),
            "data": data_hash(self.data),
            "lengths": [self.max_source, self.max_target],
            "code": code_of_module(__name__),
        }


class Step(Protocol):
    """Step from one model to a smaller one."""

    def run(self, place: Place) -> None:
        """Make the folder `place.output`.  Raises InputError if model, data and settings do not fit."""
        ...


@dataclass(frozen=True)
class FineTune:
    """Train the model on the data's own labels."""

    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=30))

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        generator = place.generator()
        course = _train(self, place, generator)
        _save(self, place, generator, course)


@dataclass(frozen=True)
class Distil:
    """Train a student with fewer layers to be like the model; see `distillation`.

    layers: number of evenly spaced layers, or a list of layers, for the encoder and the decoder each.
    """

    layers: int | Sequence[int] = (0, 2, 5, 7, 9, 11)
    loss: Mapping[str, Any] = field(default_factory=dict)  # a `preset`, and weights of its terms
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(epochs=100, weight_decay=0.0)
    )

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        teacher = place.generator()
        layers = chosen_layers(teacher.model, self.layers)
        loss = distillation_loss(**self.loss)
        student = replace(teacher, model=student_of(teacher.model, layers))
        objective = distillation(teacher.model, layers, loss)
        course = _train(self, place, student, objective=objective)
        _save(self, place, student, course, layers=layers, loss=asdict(loss))


@dataclass(frozen=True)
class Prune:
    """Train while movement pruning masks heads and neurons, then cut them; see `movement`.

    loss: as in `Distil`, with the unpruned model as the teacher; None: the loss of the labels alone, as in the paper.
    Next to the folder of the model it writes pruning.json: the schedule, the scores, and the removed parts.
    """

    movement: MovementShares = SHARES
    loss: Mapping[str, Any] | None = None
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=32))

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        generator = place.generator()
        settings = replace(
            self.training, keep="last"
        )  # the best weights would be early, unpruned ones
        examples = place.encoder(generator).examples(read_part(place.data, "train"))
        updates = settings.updates_of(len(examples))
        scoring = MovementScoring(**asdict(self.movement), prune_updates=updates, seed=place.seed)
        objective = self.objective(generator.model)
        gates = scoring.companion(prunable(generator.model))
        course = _train(
            replace(self, training=settings),
            place,
            generator,
            objective=objective,
            companion=gates,
        )
        record = cut_and_record(prunable(generator.model), gates, scoring)
        write_json(pruning_record(place.output), record)
        _save(self, place, generator, course)

    def objective(self, model: PreTrainedModel) -> Objective:
        """Return the training objective for a model that is not pruned yet."""
        if self.loss is None:
            return likelihood
        layers = every_layer(model)
        return distillation(student_of(model, layers), layers, distillation_loss(**self.loss))


@dataclass(frozen=True)
class QuantizationAware:
    """Train with weights rounded to 8 bits; the folder contains the rounded weights as float32."""

    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(epochs=20))

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        generator = place.generator()
        with weights_on_grid(generator.model):
            course = _train(self, place, generator)
        _save(self, place, generator, course)


@dataclass(frozen=True)
class PostTraining:
    """Write the weights as int8 with a scale for each output, without training.

    activations: source of their scales.  "each-token": each token's own largest magnitude, at run time; otherwise a
    formula of `quantization.calibration`, on the activations of `examples` examples of the training text.
    """

    activations: str = "each-token"
    examples: int = 64

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        generator = place.generator()
        scales = None
        if self.activations != EACH_TOKEN:
            encoder = place.encoder(generator)
            rows = encoder.examples(read_part(place.data, "train"))
            drawn = np.random.default_rng(place.seed).permutation(len(rows))[: self.examples]
            # One example in each batch, because padding would count.
            batches = validation_batches(encoder, [rows[index] for index in drawn], 1)

            def work() -> None:
                with torch.inference_mode():
                    for batch in batches:
                        logits_of(generator.model, batch, use_cache=False)

            scales = calibrated_scales(generator.model, work, self.activations)
        made = _untrained_lineage(self, place)
        save_int8(generator.model, place.output, generator.tokenizer, scales, {LINEAGE: made})


@dataclass(frozen=True)
class PruneVocabulary:
    """Keep the pieces that the data's training text uses and those that spell other text, without training."""

    def run(self, place: Place) -> None:
        """Make the folder of the result; see `Step`."""
        generator = place.generator()
        whole = generator.model.get_input_embeddings().weight.shape[0]
        texts = (text for row in read_part(place.data, "train") for text in row.values())
        with placed(place.model, place.data):
            tokenizer, kept = prune_vocabulary(generator.model, generator.tokenizer, texts)
        made = _untrained_lineage(
            self, place, data=data_hash(place.data), pieces=[whole, len(kept)]
        )
        save_generator(place.output, generator.model, tokenizer, made)


STEPS: dict[str, type] = {
    "fine-tune": FineTune,
    "distil": Distil,
    "movement": Prune,
    "quantization-aware": QuantizationAware,
    "post-training": PostTraining,
    "prune-vocabulary": PruneVocabulary,
}


def step_of(values: Mapping[str, Any]) -> Step:
    """Make the step that an entry of a configuration names in `method`; the other keys are its settings.

    Raises InputError if the method or a setting is unknown.
    """
    name = values.get("method")
    if name not in STEPS:
        raise InputError(f"steps: no method '{name}'{nearest(str(name), STEPS)}")
    kind, settings = STEPS[name], {key: value for key, value in values.items() if key != "method"}
    shares = [entry.name for entry in fields(MovementShares)] if kind is Prune else []
    known = [*shares, *(entry.name for entry in fields(kind) if entry.name != "movement")]
    for key in settings:
        if key not in known:
            raise InputError(f"steps: method '{name}' has no key '{key}'{nearest(key, known)}")
    if shares:
        chosen = {key: settings.pop(key) for key in shares if key in settings}
        settings["movement"] = replace(SHARES, **chosen)
    if "training" in settings:
        settings["training"] = TrainingSettings(**settings["training"])
    return kind(**settings)


@contextmanager
def placed(*places: Path) -> Iterator[None]:
    """Put folders before the message of an InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(map(str, places))}: {error}") from error


def pruning_record(model: Path) -> Path:
    """Return the path of a pruning's record, next to the model folder."""
    return model.with_name("pruning.json")


def _train(step: Any, place: Place, generator: Generator, **options: Any) -> Course:
    """Train a generator's model on the data by a step's settings."""
    encoder, settings = place.encoder(generator), step.training
    with placed(place.model, place.data):
        examples, validation = (
            encoder.examples(read_part(place.data, part)) for part in ("train", "validation")
        )
    return train(
        generator.model,
        Batches(encoder, examples, settings, place.seed),
        validation_batches(encoder, validation, settings.batch_size),
        settings,
        seed=place.seed,
        work=place.work,
        identity=place.identity(step),
        device=place.device,
        **options,
    )


def _save(step: Any, place: Place, generator: Generator, course: Course, **more: Any) -> None:
    """Write the step's model with its lineage, and remove unfinished work."""
    settings = {key: value for key, value in asdict(step).items() if key != "training"}
    made = lineage(
        type(step).__name__,
        step.training,
        place.seed,
        course,
        PACKAGES,
        parent=model_hash(place.model),
        data=data_hash(place.data),
        **{**settings, **more},
    )
    save_generator(place.output, generator.model, generator.tokenizer, made)
    remove_folder(place.work)


def _untrained_lineage(step: Any, place: Place, **more: Any) -> dict[str, Any]:
    """Return the lineage of a step without training."""
    return {
        "kind": type(step).__name__,
        "parent": model_hash(place.model),
        **asdict(step),
        "versions": versions(PACKAGES),
        **more,
    }
