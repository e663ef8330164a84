"""Steps that make a model smaller, each from one model folder to another, in any order (TEXTGEN §3).

A step is a frozen dataclass of its settings.  Unfinished training is kept in `OUTPUT.work` for the next call.
The configuration reads the settings, so training libraries are loaded inside functions.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from weebill.errors import InputError, placed
from weebill.files import content_hash, remove_folder, write_json
from weebill.generation.data import data_hash, read_part, task_of
from weebill.generation.settings import PACKAGES, Device, DistillationLoss, TrainingSettings
from weebill.pruning.history import History
from weebill.pruning.method import BlockPattern
from weebill.pruning.movement_settings import MovementShares
from weebill.settings import Amount, Count, Distinct, defaults, section
from weebill.workflow.code_version import code_of_module

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from weebill.generation.encoding import Batch, Batches, Encoder
    from weebill.generation.models import Generator
    from weebill.generation.training import Course, Objective


@dataclass(frozen=True)
class Place:
    """Inputs and output of a step: the model folder at its start, imported data, and the folder that it makes.

    max_source, max_target: tokens of articles (or of windows of running text) and summaries.
    prefix: text before each article.
    measured: tokens of the longest texts in the measurements of the result, by the name of their setting.
    vocabulary_pruned: True if a step of the model's pipelines prunes the vocabulary, which is then checked at once.
    """

    model: Path
    data: Path
    output: Path
    seed: int = 1
    max_source: int = 512
    max_target: int = 128
    prefix: str = ""
    device: Device = field(default_factory=Device)
    measured: Mapping[str, int] = field(default_factory=dict)
    vocabulary_pruned: bool = False

    @property
    def work(self) -> Path:
        """Folder of unfinished work."""
        return self.output.with_name(f"{self.output.name}.work")

    def generator(self) -> "Generator":
        """Load the model.  Raises InputError if it does not fit the data's task, or reads only shorter texts."""
        from weebill.generation.models import load_generator
        from weebill.generation.vocabulary import check_vocabulary

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

    def encoder(self, generator: "Generator") -> "Encoder":
        """Make the encoder of text into the model's tokens."""
        from weebill.generation.encoding import Encoder

        lengths = (self.max_source, self.max_target)
        return Encoder(generator.model, generator.tokenizer, *lengths, self.prefix)


class Step:
    """Step from one model to a smaller one; one that trains the model has the settings `training`."""

    training: TrainingSettings

    @property
    def kind(self) -> str:
        """Name of the step in the lineage of the models that it makes."""
        return type(self).__name__

    def run(self, place: Place) -> None:
        """Make the folder `place.output`.  Raises InputError if model, data and settings do not fit."""
        raise NotImplementedError

    def lineage(self, place: Place, **more: Any) -> dict[str, Any]:
        """Return the entry for config.json: the step's settings, its parent, software, and more."""
        from weebill.generation.models import model_hash
        from weebill.model_lineage import versions

        made = {"kind": self.kind, "parent": model_hash(place.model)}
        return {**made, **self.record(), "versions": versions(PACKAGES), **more}

    def record(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)

    def batches(self, place: Place, generator: "Generator") -> "tuple[Batches, list[Batch]]":
        """Return the batches of training and validation text."""
        from weebill.generation.encoding import Batches

        encoder = place.encoder(generator)
        with placed(place.model, place.data):
            parts = (read_part(place.data, part) for part in ("train", "validation"))
            examples, validation = map(encoder.examples, parts)
        batches = Batches(encoder, examples, self.training, place.seed)
        return batches, encoder.batches(validation, self.training.batch_size)

    def train(
        self,
        place: Place,
        generator: "Generator",
        text: "tuple[Batches, list[Batch]] | None" = None,
        **options: Any,
    ) -> "Course":
        """Train a generator's model; text: of `batches`.  options: of `training.train`."""
        from weebill.generation.training import train

        identity = {
            "step": self.kind,
            "settings": self.record(),
            "model": content_hash(place.model),
            "data": data_hash(place.data),
            "lengths": [place.max_source, place.max_target, *filter(None, [place.prefix])],
            "code": code_of_module(__name__),
        }
        text = text or self.batches(place, generator)
        how = {"work": place.work, "identity": identity, "device": place.device, **options}
        return train(generator.model, *text, **how)

    def save(self, place: Place, generator: "Generator", course: "Course", **more: Any) -> None:
        """Write the trained model with its lineage, and remove unfinished work."""
        from weebill.generation.models import save_generator

        data = data_hash(place.data)
        made = self.lineage(place, seed=place.seed, course=course.to_dict(), data=data, **more)
        save_generator(place.output, generator.model, generator.tokenizer, made)
        remove_folder(place.work)


@section
class FineTune(Step):
    """Training on the text's own labels."""

    training: TrainingSettings
    """Settings of the training."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        self.save(place, generator, self.train(place, generator))


@section
class Distil(Step):
    """Student with some of the layers and their weights, trained to imitate the whole model (TEXTGEN §3.2)."""

    layers: Count | Distinct[Amount]
    """Number of layers, evenly spaced with the first and the last, or a list of layers, counted from 0; the same in
    encoder and decoder."""
    loss: DistillationLoss = field(default_factory=dict)  # its keys as they are in a configuration
    """Loss of the student."""
    training: TrainingSettings
    """Settings of the training."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        from weebill.generation import distillation

        teacher = place.generator()
        layers = distillation.chosen_layers(teacher.model, self.layers)
        loss = distillation.distillation_loss(**self.loss)
        student = replace(teacher, model=distillation.student_of(teacher.model, layers))
        objective = distillation.distillation(teacher.model, layers, loss)
        course = self.train(place, student, objective=objective)
        weights = {key: value for key, value in asdict(loss).items() if key != "preset"}
        self.save(place, student, course, layers=layers, loss=weights)


@section
class Movement(MovementShares, Step):
    """Movement pruning of heads and neurons, which are cut out after the training (TEXTGEN §3.3).

    The last weights are kept, regardless of `training.keep`: the best ones in validation would be early, unpruned
    weights.
    """

    kind = "Prune"
    FORMER: ClassVar = {"movement": "its keys beside 'method: movement'"}
    blocks: BlockPattern = "*"
    """Pattern of the names of the blocks, such as `encoder.*`."""
    loss: DistillationLoss | None = None
    """Loss of the training, same as in `distil`, with the unpruned model as the teacher, which prevents overfitting
    on little text (`loss: {}` is the `paper` preset). Without this key the model learns from the labels only, as in
    the paper."""
    training: TrainingSettings
    """Settings of the training."""

    def run(self, place: Place) -> None:
        """Implement `Step`; write pruning.json, with the schedule, the scores and the removed parts, too."""
        from weebill.hugging_face.families import prunable
        from weebill.pruning.movement_gates import MovementScoring, cut_silent

        generator = place.generator()
        model = prunable(generator.model)
        # The best weights would be early, unpruned ones.
        step = replace(self, training=replace(self.training, keep="last"))
        text = step.batches(place, generator)
        scoring = MovementScoring(**self.shares(), prune_updates=text[0].updates, seed=place.seed)
        objective = self.objective(generator.model)
        gates = scoring.companion(model)
        course = step.train(place, generator, text, objective=objective, companion=gates)
        history = History(model, asdict(scoring))
        cut_silent(model, scoring, history)
        record = {**history.to_dict(), "schedule": gates.schedule(), "scores": gates.last_scores()}
        write_json(place.output.with_name("pruning.json"), record)
        self.save(place, generator, course)

    def shares(self) -> dict[str, Any]:
        """Return the settings of `MovementShares`."""
        return {name: getattr(self, name) for name in defaults(MovementShares)}

    def record(self) -> dict[str, Any]:
        """Return the settings as plain values, those of `MovementShares` together."""
        others = {key: value for key, value in asdict(self).items() if key not in self.shares()}
        return {"movement": self.shares(), **others}

    def objective(self, model: "PreTrainedModel") -> "Objective":
        """Return the training objective for a model that is not pruned yet."""
        from weebill.generation.distillation import distillation, distillation_loss, student_of
        from weebill.generation.training import likelihood
        from weebill.hugging_face.families import prunable

        if self.loss is None:
            return likelihood
        stacks = prunable(model).layer_stacks()
        layers = {stack.name: list(range(len(stack.layers))) for stack in stacks}
        return distillation(student_of(model, layers), layers, distillation_loss(**self.loss))


@section
class QuantizationAware(Step):
    """Training with all weights rounded to 8 bits in the forward pass, a scale for each output (TEXTGEN §3.4)."""

    training: TrainingSettings
    """Settings of the training."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        from weebill.generation.int8 import weights_on_grid

        generator = place.generator()
        with weights_on_grid(generator.model):
            course = self.train(place, generator)
        self.save(place, generator, course)


@section
class PostTraining(Step):
    """Conversion of the weights to int8, with products of integers; it must be the last step."""

    activations: Literal["each-token", "mean-of-scales", "mean-of-maxima"] = "each-token"
    """Quantization of the inputs of linear maps: `each-token` scales each token by its largest magnitude;
    `mean-of-scales` and `mean-of-maxima` use a scale from calibration."""
    examples: Count = 64
    """Examples of the training text for the calibration."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        import numpy as np
        import torch

        from weebill.generation.int8 import calibrated_scales, save_int8
        from weebill.generation.models import LINEAGE
        from weebill.generation.training import logits_of

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


@section
class PruneVocabulary(Step):
    """Vocabulary of only the needed pieces (TEXTGEN §3.2).

    These are the pieces that the training text uses, the special and other added tokens, what a chat template writes,
    every byte, or else every single letter, and the pieces from which these are merged. The step needs BPE, such as
    that of BART, GPT-2 and Llama, or a unigram model, such as that of T5 and mBART. Text of kept pieces is read and
    written as before. Other text consists of more and smaller pieces: compare bits per byte then, as the report does,
    because perplexity is per token. Pieces of the tokenizer without a row in the model are removed too, such as the
    `<mask>` of bart-large-cnn (50,264 rows, 50,265 pieces). If a text, the end of text or another such token needs
    such a piece, the run stops: at the start for a model in a local folder, else before the first training.
    """

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        from weebill.generation.models import save_generator
        from weebill.generation.vocabulary import prune_vocabulary

        generator = place.generator()
        whole = generator.model.get_input_embeddings().weight.shape[0]
        rows = read_part(place.data, "train")
        texts = (
            place.prefix + text if key == "article" else text
            for row in rows
            for key, text in row.items()
        )
        with placed(place.model, place.data):
            tokenizer, kept = prune_vocabulary(generator.model, generator.tokenizer, texts)
        made = self.lineage(place, data=data_hash(place.data), pieces=[whole, len(kept)])
        save_generator(place.output, generator.model, tokenizer, made)


STEPS: dict[str, type[Step]] = {
    "fine-tune": FineTune,
    "distil": Distil,
    "movement": Movement,
    "quantization-aware": QuantizationAware,
    "post-training": PostTraining,
    "prune-vocabulary": PruneVocabulary,
}


def step_of(method: str, **settings: Any) -> Step:
    """Make the step of an entry of a configuration."""
    if "training" in settings:
        settings["training"] = TrainingSettings(**settings["training"])
    return STEPS[method](**settings)
