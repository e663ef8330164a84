"""Architecture zoo, `config/models.yaml`: settings of an entry, and the reader of the file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from weebill.configuration.schema import ConfigurationError, faults, load_schema
from weebill.experiment.zoo import MODELS, Zoo
from weebill.report.papers import STUDENT_PAPERS
from weebill.settings import Count, Ge, MinLen, Name, section
from weebill.yaml_files import read_yaml


@section
class Model:
    """Model of the zoo: a shape, or an ensemble of shapes."""

    paper: Literal[*STUDENT_PAPERS] | None = None
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


Entries = Annotated[dict[Name, Model], MinLen(1)]


def load_zoo(path: str | Path = MODELS) -> Zoo:
    """Read a zoo file.  Raises InputError if it is unreadable, ConfigurationError with all faults of its content."""
    zoo = read_yaml(path)
    found = faults(zoo, load_schema("models"))
    lines = [fault.line(str(path)) for fault in found]
    broken = {fault.path[0] for fault in found if fault.path}
    for name, entry in zoo.items():
        if name not in broken:
            lines += [f"{path}: {name}: {problem}" for problem in shape_faults(entry)]
    if lines:
        raise ConfigurationError(lines)
    return zoo


def shape_faults(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the contradictions in the shape of a well-formed entry."""
    width, heads, embedding = entry["attention_width"], entry["heads"], entry["embedding"]
    if width % heads:
        yield f"attention_width {width} is no multiple of heads {heads}"
    if embedding % 2:
        yield f"embedding {embedding} is odd; sinusoidal positions need an even width"


def with_own(zoo: Zoo, config: Mapping[str, Any]) -> Zoo:
    """Return the zoo with the architectures that a checked configuration defines."""
    return {**zoo, **config.get("architectures", {})}
