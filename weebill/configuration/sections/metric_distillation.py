"""Settings of the distillation of metrics: the pairs and their translation."""

from typing import Annotated, Any

from weebill.configuration.sections.translation import Languages, Precision
from weebill.metric.settings import RegressionSettings
from weebill.settings import (
    Amount,
    Chosen,
    Commit,
    Count,
    Few,
    Ge,
    Le,
    MaxLen,
    MinLen,
    Named,
    Place,
    ProperShare,
    Shards,
    Share,
    Text,
    section,
)
from weebill.translation.training.settings import TrainingConfig


@section
class HubModel:
    """Model on the hub."""

    hugging_face: Text
    """Name of the model on the hub."""
    revision: Commit
    """Commit of 40 hexadecimal digits."""


@section
class ByModels:
    """Translation by existing models."""

    models: Annotated[tuple[Place | HubModel, ...], MinLen(1), MaxLen(3)]
    """One model, or several that translate one after another. Each is a folder of Weebill or Hugging Face, or a model
    on the hub, `{hugging_face: NAME, revision: COMMIT}`."""
    languages: tuple[Annotated[str, MinLen(2)], ...] | None = None
    """Codes of all languages, from the source through those between models to the target, if models need them."""


@section
class ByTraining:
    """Translation by a model that is trained here."""

    architecture: str
    """Entry of `models.yaml` that is trained."""
    training: TrainingConfig = TrainingConfig()
    """Settings of its training: the keys of a translation experiment's [`training`](README.md)."""


WayToTranslate = Annotated[Any, Chosen("by", {"models": ByModels, "training": ByTraining})]


@section
class Translators:
    """Data of translators that are trained here."""

    rows: Amount = 0
    """Pairs for training the translators; the metric is not distilled on them."""
    validation: Amount = 0
    """Pairs for validating the translators."""
    vocabulary: Annotated[int, Ge(100), Le(65536)] = 4000
    """Pieces of the translators' vocabularies."""


@section
class TranslatedPairs:
    """Text with sources, which are translated, and targets, which serve as references."""

    languages: Languages
    """Languages of the text."""
    table: Place | None = None
    """Table of a translation experiment, such as `results/EXP/corpora/NAME/selected`; dropped rows are left out."""
    bicleaner: Share | None = None
    """Use only pairs with at least this value in the column `bicleaner`; the paper uses 0.8."""
    source: Place | None = None
    """File with one sentence per line, instead of a table."""
    target: Place | None = None
    """File of its translations by people."""
    rows: Count | None = None
    """Number of rows, drawn at random; by default all."""
    translators: Translators = Translators()
    translations: Named[WayToTranslate]
    """A name for each way to translate: the paper's are `direct` and `pivot`."""


@section
class SourceTranslation:
    """Settings of the translation of the sources."""

    beam: Few = 4
    """Beam of the translation."""
    shards: Shards = 1
    """Number of parts; each part is translated by a separate job."""
    precision: Precision = "auto"
    """Type of the products: `float32`, `bfloat16`, or with `auto` the fastest available one."""


@section
class MetricDistillation:
    """Settings of the distillation of metrics."""

    encoder: str
    """Initial encoder of the metric `distilled`."""
    other_encoders: tuple[str, ...] = ()
    """Further encoders for comparison. With each, a metric `distilled-ENCODER` starts and learns the same."""
    pairs: Named[TranslatedPairs]
    """A name for each text; its sources are translated, and its targets serve as references."""
    translation: SourceTranslation = SourceTranslation()
    validation_share: ProperShare = 0.01
    """Share of the sources that is used to choose the best epoch."""
    training: RegressionSettings = RegressionSettings()
    """Settings of the training of the distilled metric."""
