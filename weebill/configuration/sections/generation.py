"""Settings of a whole `generation` experiment."""

from typing import Annotated, Any, Literal

from weebill.configuration.sections.generation_texts import StartingModel
from weebill.configuration.sections.origins import Fetched
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.generation.data import TextData
from weebill.generation.settings import SearchSettings
from weebill.generation.steps import STEPS
from weebill.settings import (
    Chosen,
    Count,
    FolderName,
    Former,
    Ge,
    Named,
    Names,
    Several,
    section,
)

Step = Annotated[
    Any,
    Chosen("method", STEPS),
    Former({"prune": "movement, with its keys beside the method's name"}),
]


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
    speed: GenerationSpeed = GenerationSpeed()


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
class Generation(Fetched):
    """Experiment of the kind `generation`."""

    kind: Literal["generation"]
    """Kind of experiment."""
    experiment: FolderName
    """Name of the experiment; results go to `results/NAME`."""
    seed: ExperimentSeed = 1
    """Seed of all randomness: weights, order of the text, noise, dropout, first scores."""
    data: Named[TextData]
    """Texts by name."""
    models: Named[StartingModel]
    """Models that pipelines start from, by name."""
    steps: Named[Step]
    """Steps that can be applied to a model, by name."""
    pipelines: Several[Pipeline]
    """List of `{model, steps}`: a name in `models`, and names in `steps`. Every intermediate variant is made once and
    measured."""
    evaluation: GenerationEvaluation = GenerationEvaluation()
    hardware: GenerationHardware = GenerationHardware()
    """Devices of the experiment."""
