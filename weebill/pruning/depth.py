"""Pruning method that removes top layers and trains the rest to convergence (COMETINHO §4.2)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from weebill.errors import InputError
from weebill.pruning.history import History
from weebill.pruning.method import AtOnce, ModelShape, Problem, Removed
from weebill.settings import Amount, Count

if TYPE_CHECKING:
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study


def cut_layers(model: "Prunable", stack: str, count: int) -> None:
    """Remove `count` top layers of a stack in place; if alignments guide the last layer, remove those below it.

    Raises InputError if there is no such stack, or no layer would be left.
    """
    stacks = {found.name: found for found in model.layer_stacks()}
    if stack not in stacks:
        raise InputError(f"pruning: the student has no layers '{stack}', but {', '.join(stacks)}")
    depth = stacks[stack].depth
    if count >= depth:
        asked = f"{count} layers of the {depth} of '{stack}'"
        raise InputError(f"pruning: {asked} leave none; remove fewer")
    stacks[stack].keep(depth - count)


@dataclass(frozen=True)
class Depth(AtOnce):
    """Remove top layers (COMETINHO §4.2)."""

    label = "depth"
    parts = frozenset({"layers"})
    layers: Count = 1
    """Number of layers to remove."""
    stack: Literal["encoder", "decoder"] = "encoder"
    """Stack that loses the layers."""
    reset_to: Amount = 25_000
    """Updates of training before the removal; 0 for a published student."""

    def removes(self, shape: ModelShape) -> Removed:
        return Removed(self.stack, layers=self.layers)

    def faults(self, zoo: Mapping[str, ModelShape]) -> Iterator[Problem]:
        for name, shape in zoo.items():
            depth = shape.layers.get(self.stack)
            if depth is None:
                yield ("stack",), f"found {self.stack}, expected {' or '.join(shape.layers)}"
            elif self.layers >= depth:
                message = f"found {self.layers}, expected less than {depth}, the {self.stack}'s of '{name}'"
                yield ("layers",), message

    def cut(self, study: "Study", model: "Prunable") -> History:
        cut_layers(model, self.stack, self.layers)
        return History(model, asdict(self))
