"""Pruning method that leaves layers of one shape, which formats like Marian's can hold."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import TYPE_CHECKING, Literal

from weebill.pruning.depth import cut_layers
from weebill.pruning.history import History
from weebill.pruning.method import AtOnce, Method, ModelShape, Problem, Removed, lowest
from weebill.settings import Amount, Count, PartialShare

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


@dataclass(frozen=True)
class Even(AtOnce):
    """Remove layers at once, and equally many neurons from each other layer: all keep one shape, as in Marian."""

    encoder_layers: Amount = 0
    """Top layers that the encoder loses."""
    decoder_layers: Amount = 0
    """Top layers that the decoder loses; if alignments guide its last layer, the layers below that one."""
    neurons: PartialShare = 0.0
    """Largest share of the feed-forward neurons of each layer to remove."""
    multiple: Count = 64
    """The number of neurons that each layer keeps is a multiple of this; Firefox's engine needs 64."""
    criterion: Literal["gradient", "magnitude", "random"] = "gradient"
    """Score of neurons, as in `one-shot`; the lowest are removed."""
    reset_to: Amount = 25_000
    """Updates of training before the removal; 0 for a published student."""

    @property
    def label(self) -> str:
        return f"even, {self.criterion}"

    @property
    def parts(self) -> frozenset[str]:
        layers = {"layers"} if self.encoder_layers or self.decoder_layers else set()
        return frozenset(layers | ({"neurons"} if self.neurons else set()))

    def kept(self, width: int) -> int:
        """Return the neurons that a layer of this width keeps."""
        return min(
            width, ceil(round(width * (1 - self.neurons) / self.multiple, 6)) * self.multiple
        )

    def removes(self, shape: ModelShape) -> Removed:
        neurons = sum(width - self.kept(width) for width in shape.neurons.values())
        return Removed("*", neurons=neurons, layers=self.encoder_layers + self.decoder_layers)

    def conflicts(self, recipes: Mapping[str, Method]) -> Iterator[Problem]:
        if not self.parts:
            yield (), "removes nothing, expected encoder_layers, decoder_layers or neurons"

    def faults(self, zoo: Mapping[str, ModelShape]) -> Iterator[Problem]:
        for name, shape in zoo.items():
            for stack in ("encoder", "decoder"):
                asked, depth = getattr(self, f"{stack}_layers"), shape.layers.get(stack, 0)
                if asked and asked >= depth:
                    expected = f"expected less than {depth}, the {stack}'s of '{name}'"
                    yield (f"{stack}_layers",), f"found {asked}, {expected}"
            width = max(shape.neurons.values(), default=0)
            if self.neurons and self.kept(width) == width:
                expected = f"expected a share that takes {self.multiple} of the {width} of '{name}'"
                yield ("neurons",), f"found {self.neurons}, {expected}"

    def cut(self, study: "Study", model: "Prunable") -> History:
        from weebill.pruning.criteria import CRITERIA, Candidates
        from weebill.pruning.cut import cut

        for stack in ("encoder", "decoder"):
            if count := getattr(self, f"{stack}_layers"):
                cut_layers(model, stack, count)
        history = History(model, asdict(self))
        candidates = Candidates.named(model, "*", heads=0, neurons=self.neurons)
        scores = CRITERIA[self.criterion](study, model, candidates).neurons
        removed = {}
        for name, values in scores.items():
            count = len(values) - self.kept(len(values))
            removed[name] = sorted(number for _, number in lowest({name: values}, count))
        history.remove({}, removed)
        cut(model, neurons=removed)
        return history
