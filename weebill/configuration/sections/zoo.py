"""Settings of the zoo's entries, `config/models.yaml`, which explains the keys itself."""

from typing import Annotated, Literal

from weebill.settings import Count, Ge, MinLen, Name, section


@section
class Model:
    """Model of the zoo: a shape, or an ensemble of shapes."""

    paper: Literal["wngt20", "wmt21"] | None = None
    """Paper whose table 1 contains the model."""
    embedding: Annotated[int, Ge(2)]
    """Width of the embeddings and of the layers' outputs."""
    feed_forward: Count
    """Neurons of each feed-forward block."""
    heads: Count
    """Heads of each attention block."""
    attention_width: Count
    """Total width of all heads of a block, a multiple of `heads`."""
    encoder_layers: Count
    """Layers of the encoder."""
    decoder_layers: Count | Annotated[tuple[Count, ...], MinLen(2)]
    """Layers of the decoder; a list makes an ensemble of one model for each depth."""
    decoder_tied: bool
    """Share one layer's weights among all layers of the decoder."""
    decoder: Literal["ssru", "attention"]
    """Recurrence (SSRU) or self-attention of the decoder."""
    vocabulary: Annotated[int, Ge(100)] | None = None
    """Pieces of the vocabulary, if the experiment gives no size."""
    note: str | None = None
    """Remark for readers."""


Zoo = Annotated[dict[Name, Model], MinLen(1)]
