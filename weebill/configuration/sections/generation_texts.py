"""Settings of the texts and models that generation experiments start from."""

from typing import Annotated, Any, Literal

from weebill.generation.settings import TrainingSettings
from weebill.settings import (
    Chosen,
    Commit,
    Count,
    Ge,
    MinLen,
    PartialShare,
    Place,
    Seed,
    Sha256,
    Text,
    Unique,
    section,
)

Names = Annotated[tuple[str, ...], MinLen(1), Unique()]


@section
class TextEntry:
    """A file of JSON Lines or Parquet, of running text also plain, perhaps compressed; or a data set of the Hugging
    Face hub, or in a folder as there."""

    path: Text | None = None
    """File or URL."""
    sha256: Sha256 | None = None
    """Checksum of the file; a URL needs it."""
    name: Text | None = None
    """Name of a data set on the hub."""
    revision: Commit | None = None
    """Commit of the data set."""
    folder: Place | None = None
    """Folder of such a data set."""
    config: Text | None = None
    """Configuration, as the data set's card names it."""
    split: Text | None = None
    """Split of the data set, by default `train`."""


@section
class Fields:
    """Fields of rows; dots lead into nested fields."""

    article: Text | None = None
    """Field of a row's article, by default `article`."""
    summary: Text | None = None
    """Field of a row's summary, by default `summary`."""
    text: Text | None = None
    """Field of a row of running text, by default `text`."""


@section
class TextData:
    """Text that models are trained and measured on."""

    task: Literal["summarization", "language-modelling"]
    """Task: `summarization` of articles with summaries, or `language-modelling` of running text."""
    train: Annotated[tuple[TextEntry, ...], MinLen(1)]
    """Entries of the training text, with the keys below."""
    validation: tuple[TextEntry, ...] = ()
    """Entries of the validation text."""
    test: tuple[TextEntry, ...] = ()
    """Entries of the test text."""
    fields: Fields = Fields()
    """Fields of rows that are not called as the task calls them; dots lead into nested fields."""
    rows: Literal["documents", "lines"] = "documents"
    """A row of running text is one of the `documents`, or one of `lines`, which may be empty."""
    validation_share: PartialShare = 0.1
    """Share of the training text that is validation text if `validation` has no entries."""
    test_share: PartialShare = 0.1
    """Share of the training text that is test text if `test` has no entries."""
    seed: Seed = 1
    """Seed of the drawing."""


@section
class MadeModel:
    """A small model, with a tokenizer (byte-level BPE) trained on the training text and pre-trained on it: BART to
    order its sentences and undo masks over 30 % of the tokens, GPT-2 to go on."""

    data: str
    """Text that the model is trained and measured on."""
    text: Names | None = None
    """Names of the text to pre-train on, if it is more than `data`."""
    architecture: Literal["bart", "gpt2"]
    """Architecture of the model."""
    layers: Count = 4
    """Layers of the encoder and of the decoder each."""
    width: Count = 128
    """Width of the model."""
    heads: Count = 4
    """Heads of each attention."""
    feed_forward: Count = 512
    """Neurons of each layer."""
    positions: Annotated[int, Ge(8)] = 256
    """Longest text, in tokens."""
    passage: Annotated[int, Ge(8)] | None = None
    """Tokens of a text to pre-train on, if not all positions; by short ones BART learns to copy much sooner."""
    vocabulary: Annotated[int, Ge(300)] = 4000
    """Most pieces."""
    dropout: PartialShare = 0.1
    """Probability of dropping an activation, in all trainings."""
    training: TrainingSettings
    """How to pre-train it."""
    max_source: Annotated[int, Ge(8)] = 256
    """Tokens of an article, or of a window of running text."""
    max_target: Annotated[int, Ge(4)] = 64
    """Tokens of a summary."""


@section
class HuggingFaceModel:
    """A model of the library transformers with its weights in safetensors. BART-, Marian-, T5- and GPT-2-like ones go
    through every step, others through fine-tuning."""

    data: str
    """Text that the model is trained and measured on."""
    hugging_face: Text
    """Folder, or with `revision` a name on the hub."""
    revision: Commit | None = None
    """Commit on the hub."""
    max_source: Annotated[int, Ge(8)] = 512
    """Tokens of an article, or of a window of running text."""
    max_target: Annotated[int, Ge(4)] = 128
    """Tokens of a summary."""


StartingModel = Annotated[
    Any, Chosen("by", {"making": MadeModel, "hugging_face": HuggingFaceModel})
]
