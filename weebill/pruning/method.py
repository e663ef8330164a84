"""Base classes of pruning methods, the facts that a method reports, and the selection of the lowest scores.

A method is a frozen dataclass of its settings in a file of its own, and an entry of `methods.METHODS`.  Such a
file imports torch inside functions only: a configuration is checked without it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from weebill.experiment.shares import part_of
from weebill.files import claim_folder, exclusive_folder
from weebill.settings import Pattern
from weebill.workflow.code_version import code_of_module

if TYPE_CHECKING:
    from weebill.pruning.history import History
    from weebill.pruning.structure import Prunable
    from weebill.pruning.study import Study

BlockPattern = Annotated[str, Pattern(r"^[^/]+$", "a pattern of block names, such as encoder.*")]
Criterion = Literal["confidence", "gradient", "magnitude", "random"]  # names of criteria.CRITERIA
BlockScores = dict[str, list[float]]  # block name -> score of each of its heads or neurons
Protected = Mapping[str, Collection[int]]  # block name -> heads that stay
NOTHING: Protected = MappingProxyType({})
Ranking = Literal["global", "layer"]
Grouping = Literal["rowcol", "head"]  # of weights; used by group_penalty.groups_of
Baseline = Literal["chance", "from scratch"]
Problem = tuple[tuple[str, ...], str]  # the key below the recipe, and the fault


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a model by name: heads of attention blocks, neurons of feed-forward blocks, layers of stacks."""

    heads: Mapping[str, int]
    neurons: Mapping[str, int]
    layers: Mapping[str, int]

    def matching(self, pattern: str) -> Self:
        """Return the shape with only the blocks whose names match a pattern such as "encoder.*"."""
        heads, neurons = (
            {name: width for name, width in blocks.items() if fnmatchcase(name, pattern)}
            for blocks in (self.heads, self.neurons)
        )
        return type(self)(heads, neurons, self.layers)


@dataclass(frozen=True)
class Removed:
    """Numbers of parts that a method removes; `place` is the pattern of the blocks, or the stack, that lose them."""

    place: str
    heads: int = 0
    neurons: int = 0
    layers: int = 0


@dataclass(frozen=True)
class Pruned:
    """Pruned and trained model, the removed parts by step as plain values, and the result of the last training."""

    model: "Prunable"
    history: dict[str, Any]
    course: Any


class Method:
    """Base of pruning methods, which are frozen dataclasses of settings."""

    label: str
    """Name of the method and of its criterion, for figures and tables: "late-reset, confidence"."""
    reset_to: int = 0
    """Update of the model's training at which the method begins; 0: it trains from initial weights."""
    baseline: Baseline | None = None
    """Kind of baseline that the recipe is for other recipes."""
    parts: frozenset[str] = frozenset()
    """Parts that the settings ask to remove: heads, neurons, layers.  Empty if training decides."""
    shape_from: str | None = None
    """Recipe whose shape this one trains; None if it makes its own shape."""

    @property
    def phases(self) -> dict[str, int]:
        """Updates between `reset_to` and the last training, by key, that are part of the model's own training."""
        return {}

    @property
    def undone(self) -> dict[str, int]:
        """Updates after `reset_to`, by key, that a reset undoes: the last training repeats them."""
        return {}

    def same_shape(self, other: "Method") -> bool:
        """Return True if both recipes make the same shape of the same model."""
        return self == other

    def removes(self, shape: ModelShape) -> Removed | None:
        """Count the parts that the method removes from a model; None if training decides."""
        return None

    def extra_updates(self, training: Mapping[str, Any]) -> int:
        """Count the updates that the recipe trains after those of the checkpoint that it starts from."""
        return training["updates"] - self.reset_to

    def conflicts(self, recipes: Mapping[str, "Method"]) -> Iterator[Problem]:
        """Find contradictions among the settings, or with other recipes of the configuration."""
        yield from ()

    def faults(self, zoo: Mapping[str, ModelShape]) -> Iterator[Problem]:
        """Find settings that do not fit the models that the recipe prunes; zoo: their shapes by name."""
        yield from ()

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Return the smaller model and its history before the last training; work: a folder for unfinished work."""
        raise NotImplementedError

    def prune(self, study: "Study", work: Path) -> Pruned:
        """Prune the model of a study, and train the rest to convergence.

        work: a folder for unfinished work, from which a killed run continues to the same result.  It is emptied
        first if another method, study or code began it.  Raises InputError if the settings do not fit the model.
        """
        import torch

        start = self.reset_to + sum(self.phases.values())
        with exclusive_folder(work):
            begun_by = {
                "method": type(self).__name__,
                "settings": asdict(self),
                "study": study.identity(),
                "code": code_of_module(__name__, type(self).__module__),
                "torch": torch.__version__,
            }
            claim_folder(work, "begun_by.json", begun_by)
            model, history = self.shrink(study, work)
            course = study.train(model, start_update=start, updates=None, work=work / "final")
        return Pruned(model, history.to_dict(), course)


class AtOnce(Method):
    """Method that removes all parts in one step, without a training before it."""

    def cut(self, study: "Study", model: "Prunable") -> "History":
        """Remove parts from the model in place.  Raises InputError if the settings do not fit it."""
        raise NotImplementedError

    def shrink(self, study: "Study", work: Path) -> "tuple[Prunable, History]":
        """Cut the checkpoint of `reset_to`."""
        model = study.checkpoint(self.reset_to)
        return model, self.cut(study, model)


class BlockMethod(Method):
    """Method that removes heads and neurons of the blocks whose names match a pattern."""

    blocks: str
    """Pattern of the names."""
    criterion: Criterion | None = None
    """Score by which parts are chosen; None if the method has its own."""

    @property
    def baseline(self) -> Baseline | None:
        """Kind of baseline: "chance" for a random choice, None for the other criteria."""
        return "chance" if self.criterion == "random" else None

    def asked(self, removed: Removed) -> str:
        """Return the number of heads to remove in words."""
        return f"{removed.heads} heads"

    def faults(self, zoo: Mapping[str, ModelShape]) -> Iterator[Problem]:
        """Find patterns that match no block, and numbers of heads and neurons that a model cannot lose."""
        for name, shape in zoo.items():
            yield from islice(self._faults(name, shape.matching(self.blocks)), 1)

    def _faults(self, name: str, candidates: ModelShape) -> Iterator[Problem]:
        """Yield the faults for one model, of which only the first is reported."""
        wanted = {
            "attention": (candidates.heads, "heads" in self.parts),
            "feed-forward": (candidates.neurons, "neurons" in self.parts),
            "attention or feed-forward": (candidates.heads or candidates.neurons, True),
        }
        found = f"found '{self.blocks}'"
        for kind, (blocks, needed) in wanted.items():
            if needed and not blocks:
                expected = f"expected a pattern that matches {kind} blocks of '{name}'"
                yield ("blocks",), f"{found}, {expected}"
        unseen = [block for block in candidates.heads if not block.startswith("encoder.")]
        if self.criterion == "confidence" and unseen:
            expected = f"expected encoder blocks alone, as {unseen[0]} is not observed"
            yield ("blocks",), f"{found} for criterion confidence, {expected}"
        removed = self.removes(candidates)
        if removed is None:
            return
        if not removed.heads and not removed.neurons:
            yield (), f"found shares that come to no head and no neuron of '{name}', expected more"
        found = f"found {self.asked(removed)}"
        present = sum(candidates.heads.values())
        most = present - sum(block.endswith("cross_attention") for block in candidates.heads)
        if removed.heads > present:
            yield (), f"{found}, expected at most {present}, the heads of '{name}' in {self.blocks}"
        if removed.heads > most:
            reason = "a head: without any a decoder sees nothing of the source"
            expected = f"expected at most {most}, which leave each cross-attention of '{name}'"
            yield (), f"{found}, {expected} {reason}"


class ShareMethod(BlockMethod):
    """Method whose settings are the shares of heads and neurons that it removes, ranked globally or by layer."""

    heads: float
    neurons: float
    ranking: Ranking

    @property
    def parts(self) -> frozenset[str]:
        """Parts whose share is above 0."""
        return frozenset(part for part in ("heads", "neurons") if getattr(self, part))

    def removes(self, shape: ModelShape) -> Removed:
        """Count the heads and neurons in the shares."""
        found = shape.matching(self.blocks)
        return Removed(
            self.blocks,
            heads=part_of_blocks(self.heads, found.heads.values(), self.ranking),
            neurons=part_of_blocks(self.neurons, found.neurons.values(), self.ranking),
        )


def nothing_removed(settings: Any) -> str:
    """Return the message for shares that remove no head and no neuron, with a remedy."""
    shares = f"heads {settings.heads} and neurons {settings.neurons} of blocks '{settings.blocks}'"
    return f"pruning: {shares} are none; raise one, or mend the pattern"


@dataclass(frozen=True)
class Scores:
    """Scores of the heads of attention blocks and of the neurons of feed-forward blocks."""

    heads: BlockScores = field(default_factory=dict)
    neurons: BlockScores = field(default_factory=dict)


def part_of_blocks(share: float, widths: Collection[int], ranking: Ranking) -> int:
    """Count the heads or neurons that `lowest_share` selects from blocks of these widths."""
    groups = widths if ranking == "layer" else [sum(widths)]
    return sum(part_of(share, width) for width in groups)


def lowest(
    scores: Mapping[str, Sequence[float]], count: int, protected: Protected = NOTHING
) -> list[tuple[str, int]]:
    """Return the `count` lowest scores as (block, part), ties in order of place, without protected parts.

    Raises ValueError if there are fewer.
    """
    numbered = [
        (value, place, number, name)
        for place, (name, values) in enumerate(scores.items())
        for number, value in enumerate(values)
        if number not in protected.get(name, ())
    ]
    if len(numbered) < count:
        raise ValueError(f"{count} to remove, but only {len(numbered)} are left")
    return [(name, number) for _, _, number, name in sorted(numbered)[:count]]


def lowest_share(
    scores: Mapping[str, Sequence[float]],
    share: float,
    ranking: Ranking,
    protected: Protected = NOTHING,
) -> dict[str, list[int]]:
    """Return block name → parts, ascending, of the lowest share: of each block, or of all blocks together."""
    groups = [{name: values} for name, values in scores.items()] if ranking == "layer" else [scores]
    removed = {name: [] for name in scores}
    for group in groups:
        count = part_of(share, sum(map(len, group.values())))
        for name, number in lowest(group, count, protected):
            removed[name].append(number)
    return {name: sorted(numbers) for name, numbers in removed.items()}
