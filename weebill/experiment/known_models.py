"""Structures of published models, by their names on the hub; `known_models.yaml` lists them."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from weebill.yaml_files import read_yaml

FILE = Path(__file__).with_name("known_models.yaml")
ENCODERS = ("XLM-RoBERTa", "MiniLM", "BERT")  # families of COMET's encoders
# Weights of a layer in squares of its width: attention 4, feed-forward 8; a decoder's attention to the source 4.
LAYER, DECODER_LAYER = 12, 16


class KnownModel(NamedTuple):
    """Structure of a published model; see `known_models.yaml`."""

    family: str
    layers: int
    heads: int
    width: int
    pieces: int

    @property
    def layer_weights(self) -> int:
        """Number of weights in the layers, without embeddings."""
        alone = self.family in (*ENCODERS, "gpt2")
        return self.layers * self.width**2 * (LAYER if alone else LAYER + DECODER_LAYER)

    @property
    def weights(self) -> int:
        """Number of weights, without the few weights of biases, norms and positions."""
        return self.layer_weights + self.pieces * self.width


@cache
def known_models() -> dict[str, KnownModel]:
    """Return all known structures by part of a model's name."""
    return {part: KnownModel(**structure) for part, structure in read_yaml(FILE).items()}


def known_model(name: str) -> KnownModel | None:
    """Return the structure of a model by its name on the hub; None if it is not known."""
    return next((one for part, one in known_models().items() if part in name), None)
