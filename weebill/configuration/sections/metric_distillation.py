"""Settings of the distillation of metrics: the pairs and how they are translated."""

from typing import Annotated, Any

from weebill.configuration.sections.distillation import Precision
from weebill.configuration.sections.translation import Languages
from weebill.metric.settings import RegressionSettings
from weebill.settings import (
    Amount,
    Chosen,
    Commit,
    Count,
    Ge,
    Le,
    MaxLen,
    MinLen,
    Name,
    Place,
    ProperShare,
    Share,
    Text,
    section,
)
from weebill.translation.training.settings import TrainingConfig


@section
class HubModel:
    """A model of the hub."""

    hugging_face: Text
    """Name of the model on the hub."""
    revision: Commit
    """Commit of 40 hexadecimal digits."""


@section
class ByModels:
    """Translation by models that are there."""

    models: Annotated[tuple[Place | HubModel, ...], MinLen(1), MaxLen(3)]
    """One model, or several that translate one after the other: a folder, Weebill's or Hugging Face's, or a model of
    the hub, `{hugging_face: NAME, revision: COMMIT}`."""
    languages: tuple[Annotated[str, MinLen(2)], ...] | None = None
    """Codes of all languages on the way, where models need them."""


@section
class ByTraining:
    """Translation by a model that is trained here."""

    architecture: str
    """Entry of `models.yaml` that is trained."""
    training: TrainingConfig = TrainingConfig()
    """How to train it: the keys of a translation experiment's [`training`](README.md)."""


WayToTranslate = Annotated[Any, Chosen("by", {"models": ByModels, "training": ByTraining})]


@section
class Translators:
    """Data of translators that are trained here."""

    rows: Amount = 0
    """Pairs that translators trained here learn from; the metric is not distilled on them."""
    validation: Amount = 0
    """Pairs that validate them."""
    vocabulary: Annotated[int, Ge(100), Le(65536)] = 4000
    """Pieces of their vocabularies."""


@section
class TranslatedPairs:
    """A text whose sources are translated and whose targets are references."""

    languages: Languages
    """Languages of the text."""
    table: Place | None = None
    """Table of a translation experiment, such as `results/EXP/corpora/NAME/selected`; dropped rows are left out."""
    bicleaner: Share | None = None
    """Smallest value in column `bicleaner` of the pairs that are taken; the paper's 0.8."""
    source: Place | None = None
    """File of one sentence a line, instead of a table."""
    target: Place | None = None
    """File of its translations by people."""
    rows: Count | None = None
    """Number of rows that are drawn at random; without it all."""
    translators: Translators = Translators()
    """Data of translators that are trained here."""
    translations: Annotated[dict[Name, WayToTranslate], MinLen(1)]
    """A name for each way to translate: the paper's are `direct` and `pivot`."""


@section
class SourceTranslation:
    """How the sources are translated."""

    beam: Count = 4
    """Beam of the translation."""
    shards: Count = 1
    """Parts that are translated by a job each."""
    precision: Precision = "auto"
    """Type of the products: the fastest there is with `auto`, or `float32`, `bfloat16`."""


@section
class MetricDistillation:
    """How metrics are distilled."""

    encoder: str
    """Encoder that the metric `distilled` begins with."""
    pairs: Annotated[dict[Name, TranslatedPairs], MinLen(1)]
    """A name for each text, whose sources are translated and whose targets are references."""
    translation: SourceTranslation = SourceTranslation()
    """How the sources are translated."""
    validation_share: ProperShare = 0.01
    """Share of the sources by which the best epoch is chosen."""
    training: RegressionSettings = RegressionSettings()
    """How to train the distilled metric."""
