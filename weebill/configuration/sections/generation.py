"""Settings of a whole `generation` experiment."""

from typing import Annotated, Any, Literal

from weebill.configuration.sections.origins import Fetched
from weebill.configuration.sections.rehearsed import Rehearsed
from weebill.configuration.sections.translation import ExperimentSeed
from weebill.generation.data import TextData
from weebill.generation.settings import SearchSettings, TrainingSettings
from weebill.generation.steps import STEPS
from weebill.settings import (
    Accelerator,
    Chosen,
    Commit,
    Count,
    Few,
    FolderName,
    Former,
    Ge,
    Named,
    Names,
    PartialShare,
    Place,
    Several,
    Text,
    section,
)


@section
class MadeModel:
    """Small model that is pre-trained on the training text, with its tokenizer (byte-level BPE).

    BART learns to order sentences and to fill masks over 30 % of the tokens, GPT-2 to continue the text.
    """

    data: str
    """Name in `data` of the text for training and measuring the model."""
    text: Names | None = None
    """Names in `data` of all texts to pre-train on, if not only the model's own."""
    architecture: Literal["bart", "gpt2"]
    """Architecture of the model."""
    layers: Count = 4
    """Layers of the encoder; the decoder has the same number."""
    width: Count = 128
    """Width of the model."""
    heads: Count = 4
    """Heads of each attention block."""
    feed_forward: Count = 512
    """Neurons of each layer."""
    positions: Annotated[int, Ge(8)] = 256
    """Longest text, in tokens."""
    passage: Annotated[int, Ge(8)] | None = None
    """Tokens of each text in pre-training, by default all positions. With short texts, BART learns to copy much
    sooner."""
    vocabulary: Annotated[int, Ge(300)] = 4000
    """Largest number of pieces."""
    dropout: PartialShare = 0.1
    """Probability of dropping an activation, in all trainings."""
    training: TrainingSettings
    """Settings of the pre-training."""
    max_source: Annotated[int, Ge(8)] = 256
    """Largest number of tokens of an article, or tokens in a window of running text."""
    max_target: Annotated[int, Ge(4)] = 64
    """Largest number of tokens of a summary."""


@section
class HuggingFaceModel:
    """Model of the library transformers with its weights in safetensors.

    The families that [int8 supports](../docs/guides/int8-generators.md) support every step; other models support
    fine-tuning only.
    """

    data: str
    """Name in `data` of the text for training and measuring the model."""
    hugging_face: Place
    """Folder, or name on the hub if there is a `revision`."""
    revision: Commit | None = None
    """Commit on the hub."""
    prefix: Text | None = None
    """Text before each article, such as `"summarize: "`, which T5 needs."""
    max_source: Annotated[int, Ge(8)] = 512
    """Largest number of tokens of an article, or tokens in a window of running text."""
    max_target: Annotated[int, Ge(4)] = 128
    """Largest number of tokens of a summary."""


StartingModel = Annotated[
    Any, Chosen("by", {"making": MadeModel, "hugging_face": HuggingFaceModel})
]
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
    """Number of tokens that the window moves forward."""


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

    accelerator: Accelerator = "cpu"
    """Device that trains and measures. `rehearsal` runs a GPU's code and kinds of numbers on the processor;
    `weebill rehearse` sets it instead of `gpu`."""
    devices: Literal[1] = 1
    """Number of devices of a training."""
    threads: Few = 1
    """Threads of a process on the CPU."""


@section
class Generation(Fetched, Rehearsed):
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
    """List of `{model, steps}`, with a name in `models` and names in `steps`. Every intermediate variant is made once
    and measured."""
    evaluation: GenerationEvaluation = GenerationEvaluation()
    hardware: GenerationHardware = GenerationHardware()
    """Devices of the experiment."""
