"""Settings of a whole experiment of the kind `generation`."""

from typing import Annotated, Literal

from weebill.configuration.sections.generation_steps import Step
from weebill.configuration.sections.generation_texts import Names, StartingModel, TextData
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.generation.settings import SearchSettings
from weebill.settings import (
    Count,
    FolderName,
    Ge,
    MinLen,
    Name,
    Place,
    section,
)


@section
class Pipeline:
    """Steps that are done with a model, one after the other."""

    model: str
    """Name of a model in `models`."""
    steps: Names
    """Names of steps in `steps`."""


@section
class Perplexity:
    """How perplexity is measured."""

    window: Annotated[int, Ge(2)] = 1024
    """Tokens that the model sees."""
    stride: Count = 512
    """Tokens that the window moves on."""


@section
class GenerationSpeed:
    """How speed is measured."""

    examples: Count = 10
    """Examples that are timed, one after another on one core."""
    given: Count = 256
    """Most tokens of each example."""
    new_tokens: Count = 64
    """Tokens that are written, no more and no fewer."""
    rounds: Count = 5
    """Rounds, in each of which all variants take their turn."""


@section
class GenerationEvaluation:
    """How generators are measured."""

    resamples: Annotated[int, Ge(40)] = 1000
    """Resamplings of the bootstrap."""
    search: SearchSettings = SearchSettings()
    """How summaries are searched for."""
    perplexity: Perplexity = Perplexity()
    """How perplexity is measured."""
    speed: GenerationSpeed = GenerationSpeed()
    """How speed is measured."""


@section
class GenerationHardware:
    """Devices of a generation experiment."""

    accelerator: Literal["cpu", "gpu"] = "cpu"
    """Device that trains and measures."""
    devices: Literal[1] = 1
    """Devices of a training."""
    threads: Count = 1
    """Threads of a process on the CPU."""


@section
class Generation:
    """An experiment of the kind `generation`."""

    kind: Literal["generation"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: weights, order of the text, noise, dropout, first scores."""
    local_dir: Place | None = None
    """Folder of files that were fetched elsewhere; the folder NAME in it stands for a model or data set of the
    hub."""
    download_cache: Place | None = None
    """Folder of fetched files."""
    data: Annotated[dict[Name, TextData], MinLen(1)]
    """Texts by name."""
    models: Annotated[dict[Name, StartingModel], MinLen(1)]
    """Models that pipelines start from, by name."""
    steps: Annotated[dict[Name, Step], MinLen(1)]
    """Steps that can be done with a model, by name."""
    pipelines: Annotated[tuple[Pipeline, ...], MinLen(1)]
    """List of `{model, steps}`: a name in `models`, and names in `steps`. Every variant on the way is made once, and
    measured."""
    evaluation: GenerationEvaluation = GenerationEvaluation()
    """How generators are measured."""
    hardware: GenerationHardware = GenerationHardware()
    """Devices of the experiment."""
