"""Settings of the texts and models that generation experiments start from."""

from typing import Annotated, Any, Literal

from weebill.generation.settings import TrainingSettings
from weebill.settings import (
    Chosen,
    Commit,
    Count,
    Ge,
    Names,
    PartialShare,
    Text,
    section,
)


@section
class MadeModel:
    """Small model that is pre-trained on the training text, with its tokenizer (byte-level BPE).

    BART learns to order sentences and to fill masks over 30 % of the tokens, GPT-2 to continue the text.
    """

    data: str
    """Name in `data` of the text on which the model is trained and measured."""
    text: Names | None = None
    """Names in `data` of all texts to pre-train on, if not only the model's own."""
    architecture: Literal["bart", "gpt2"]
    """Architecture of the model."""
    layers: Count = 4
    """Layers in the encoder, and the same number in the decoder."""
    width: Count = 128
    """Width of the model."""
    heads: Count = 4
    """Heads of each attention block."""
    feed_forward: Count = 512
    """Neurons of each layer."""
    positions: Annotated[int, Ge(8)] = 256
    """Longest text, in tokens."""
    passage: Annotated[int, Ge(8)] | None = None
    """Tokens of each text in pre-training, by default all positions; with short texts BART learns to copy much
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

    Models like BART, Marian, T5 and GPT-2 support every step; others support fine-tuning only.
    """

    data: str
    """Name in `data` of the text on which the model is trained and measured."""
    hugging_face: Text
    """Folder, or name on the hub if there is a `revision`."""
    revision: Commit | None = None
    """Commit on the hub."""
    max_source: Annotated[int, Ge(8)] = 512
    """Largest number of tokens of an article, or tokens in a window of running text."""
    max_target: Annotated[int, Ge(4)] = 128
    """Largest number of tokens of a summary."""


StartingModel = Annotated[
    Any, Chosen("by", {"making": MadeModel, "hugging_face": HuggingFaceModel})
]
