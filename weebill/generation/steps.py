"""Steps that make a model smaller, each from one model folder to another, in any order (TEXTGEN §3).

A step is a frozen dataclass of its settings.  Unfinished training is kept in `OUTPUT.work` for the next call.
The configuration reads the settings, so training libraries are loaded inside functions.
"""

from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from weebill.errors import placed
from weebill.files import write_json
from weebill.generation.data import data_hash, read_part
from weebill.generation.settings import (
    DistillationLoss,
    LowRankSettings,
    TrainingSettings,
)
from weebill.generation.step import Place, Step
from weebill.pruning.history import History
from weebill.pruning.method import BlockPattern
from weebill.pruning.movement_settings import MovementShares
from weebill.settings import Amount, Count, Distinct, defaults, section

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from weebill.generation.training import Objective


@section
class FineTune(Step):
    """Training on the text's own labels.

    With the `training` and the `loss` of another step, after the same model, it is that step's control: it shows the
    effect of the longer training alone. Reports compare a variant with its control if a pipeline makes one.
    `movement` keeps the last weights, so its control needs `keep: last`.
    """

    loss: DistillationLoss | None = None
    """Loss of the training, same as in `movement`, with the model before this step as the teacher. Without this key
    the model learns from the labels only."""
    low_rank: LowRankSettings | None = None
    """Low-rank updates of the linear maps (LoRA), which are added to the weights at the end; all other parameters
    stay. Give a higher learning rate than for whole weights. Without this key all parameters are trained."""
    training: TrainingSettings
    """Settings of the training."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        generator = place.generator()
        objective = objective_of(self.loss, generator.model)
        if self.low_rank is None:
            self.save(place, generator, self.train(place, generator, objective=objective))
            return
        from weebill.generation.low_rank import low_rank_updates

        with low_rank_updates(generator.model, self.low_rank, place.seed) as trained:
            course = self.train(place, generator, objective=objective)
        self.save(place, generator, course, trained_parameters=trained, packages=("peft",))


@section
class Distil(Step):
    """Student with some of the layers and their weights, trained to imitate the whole model (TEXTGEN §3.2)."""

    layers: Count | Distinct[Amount]
    """Number of layers, evenly spaced with the first and the last, or a list of layers, counted from 0; the same in
    encoder and decoder."""
    loss: DistillationLoss = field(default_factory=dict)  # the keys as in a configuration
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
        objective = objective_of(self.loss, generator.model)
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


@section
class QuantizationAware(Step):
    """Training with all weights rounded in the forward pass (TEXTGEN §3.4)."""

    training: TrainingSettings
    """Settings of the training."""
    bits: Literal[8, 4] = 8
    """Bits of the weights, as in `post-training`."""

    def run(self, place: Place) -> None:
        """Implement `Step`."""
        from weebill.generation.quantizable import weights_on_grid

        generator = place.generator()
        with weights_on_grid(generator.model, self.bits):
            course = self.train(place, generator)
        self.save(place, generator, course)


@section
class PostTraining(Step):
    """Conversion of the weights to 8 or 4 bits, with products of integers; it must be the last step."""

    activations: Literal["each-token", "mean-of-scales", "mean-of-maxima"] = "each-token"
    """Quantization of the inputs of linear maps: `each-token` scales each token by its largest magnitude;
    `mean-of-scales` and `mean-of-maxima` use a scale from calibration."""
    examples: Count = 64
    """Examples of the training text for the calibration."""
    bits: Literal[8, 4] = 8
    """Bits of a weight: 8 with a scale for each output, or 4 with a step for each 32 inputs of an output, in all 4.5.
    Activations are int8 in both."""

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
        save_int8(generator.model, place.output, generator.tokenizer, scales, made, self.bits)


@section
class PruneVocabulary(Step):
    """Vocabulary of only the needed pieces (TEXTGEN §4.4).

    These are the pieces that the training text uses, the special and other added tokens, those that a chat template
    writes, every byte, or else every single letter, and the pieces from which these are merged. The step needs BPE,
    such as that of BART, GPT-2 and Llama, or a unigram model, such as that of T5 and mBART. Text of kept pieces is
    read and written as before. Other text consists of more and smaller pieces: compare bits per byte then, as the
    report does, because perplexity is per token. Pieces of the tokenizer without a row in the model are removed too,
    such as the `<mask>` of bart-large-cnn (50,264 rows, 50,265 pieces). If a text or a special token such as the end
    of text needs one of these, the run stops: at the start for a model in a local folder, else before the first
    training.
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


def objective_of(loss: Mapping[str, Any] | None, model: "PreTrainedModel") -> "Objective":
    """Return the training objective for a model; the teacher is the model in its present state.

    loss: keys of `DistillationLoss`; None: the labels only.
    """
    from weebill.generation.distillation import distillation, distillation_loss, student_of
    from weebill.generation.training import likelihood
    from weebill.hugging_face.families import prunable

    if loss is None:
        return likelihood
    layers = {
        stack.name: list(range(len(stack.layers))) for stack in prunable(model).layer_stacks()
    }
    return distillation(student_of(model, layers), layers, distillation_loss(**loss))


def step_of(method: str, **settings: Any) -> Step:
    """Make the step of an entry of a configuration."""
    for key, kind in {"training": TrainingSettings, "low_rank": LowRankSettings}.items():
        if settings.get(key) is not None:
            settings[key] = kind(**settings[key])
    return STEPS[method](**settings)
