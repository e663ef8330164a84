"""Common parts of all steps from one model to a smaller one: load it, train it, write it with its lineage.

The configuration reads the settings, so training libraries are loaded inside functions.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weebill.errors import InputError, placed
from weebill.files import content_hash, remove_folder
from weebill.generation.data import data_hash, read_part, task_of
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.workflow.code_version import code_of_module

if TYPE_CHECKING:
    from weebill.generation.encoding import Batch, Batches, Encoder
    from weebill.generation.models import Generator
    from weebill.generation.training import Course


@dataclass(frozen=True)
class Place:
    """Inputs and output of a step: the model folder that it starts from, imported data, and the folder that it makes.

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
        """Load the model.  Raises InputError if it does not fit the data's task, or has too few positions."""
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
    """Step from one model to a smaller one; a step that trains the model has the settings `training`."""

    training: TrainingSettings

    @property
    def kind(self) -> str:
        """Name of the step in the lineage of the models that it makes."""
        return type(self).__name__

    def run(self, place: Place) -> None:
        """Make the folder `place.output`.  Raises InputError if model, data and settings do not fit."""
        raise NotImplementedError

    def lineage(self, place: Place, packages: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        """Return the entry for config.json: the step's settings, its parent, software with `packages`, and more."""
        from weebill.generation.models import model_hash
        from weebill.model_lineage import versions

        made = {"kind": self.kind, "parent": model_hash(place.model)}
        return {**made, **self.record(), "versions": versions((*PACKAGES, *packages)), **more}

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
        """Train a generator's model; text: from `batches`.  options: further ones of `training.train`."""
        from weebill.generation.training import train

        identity = {
            "step": self.kind,
            "settings": self.record(),
            "model": content_hash(place.model),
            "data": data_hash(place.data),
            "lengths": [place.max_source, place.max_target, *filter(None, [place.prefix])],
            "code": code_of_module(type(self).__module__),
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
