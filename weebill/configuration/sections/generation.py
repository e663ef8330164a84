"""Settings of a whole `generation` experiment."""

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
    """Sequence of steps that are applied to a model."""

    model: str
    """Name of a model in `models`."""
    steps: Names
    """Names of steps in `steps`."""


@section
class Perplexity:
    """Settings of the perplexity measurement."""

    window: Annotated[int, Ge(2)] = 1024
    """Tokens that the model sees at once."""
    stride: Count = 512
    """Tokens by which the window moves."""


@section
class GenerationSpeed:
    """Settings of the speed measurement."""

    examples: Count = 10
    """Timed examples, one after another on one core."""
    given: Count = 256
    """Largest number of tokens of each example."""
    new_tokens: Count = 64
    """Exact number of tokens that the model writes."""
    rounds: Count = 5
    """Number of rounds; each round measures every variant once."""


@section
class GenerationEvaluation:
    """Settings of the measurement of generators."""

    resamples: Annotated[int, Ge(40)] = 1000
    """Resamplings of the bootstrap."""
    search: SearchSettings = SearchSettings()
    """Settings of the search for summaries."""
    perplexity: Perplexity = Perplexity()
    """Settings of the perplexity measurement."""
    speed: GenerationSpeed = GenerationSpeed()
    """Settings of the speed measurement."""


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
    """Experiment of the kind `generation`."""

    kind: Literal["generation"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: weights, order of the text, noise, dropout, first scores."""
    local_dir: Place | None = None
    """Folder of files that were downloaded elsewhere; its subfolder NAME replaces the model or data set NAME of the
    hub."""
    download_cache: Place | None = None
    """Folder of downloaded files."""
    data: Annotated[dict[Name, TextData], MinLen(1)]
    """Texts by name."""
    models: Annotated[dict[Name, StartingModel], MinLen(1)]
    """Models that pipelines start from, by name."""
    steps: Annotated[dict[Name, Step], MinLen(1)]
    """Steps that can be applied to a model, by name."""
    pipelines: Annotated[tuple[Pipeline, ...], MinLen(1)]
    """List of `{model, steps}`: a name in `models`, and names in `steps`. Every intermediate variant is made once and
    measured."""
    evaluation: GenerationEvaluation = GenerationEvaluation()
    """Settings of the measurement of generators."""
    hardware: GenerationHardware = GenerationHardware()
    """Devices of the experiment."""
