"""Remove top layers, and train what remains to convergence (COMETINHO §4.2)."""

from dataclasses import asdict, dataclass
from pathlib import Path

from weebill.errors import InputError
from weebill.pruning.history import History
from weebill.pruning.structure import Prunable
from weebill.pruning.study import Pruned, Study
from weebill.pruning.work_folder import pruning_work


def cut_layers(model: Prunable, stack: str, count: int) -> None:
    """Remove the `count` top layers of a stack in place.

    Raises InputError where the model has no such stack, or no layer would be left of it.
    """
    stacks = {found.name: found for found in model.layer_stacks()}
    if stack not in stacks:
        raise InputError(f"pruning: the student has no layers '{stack}', but {', '.join(stacks)}")
    if count >= stacks[stack].depth:
        raise InputError(
            f"pruning: {count} layers of the {stacks[stack].depth} of '{stack}' leave none; remove fewer"
        )
    stacks[stack].keep(stacks[stack].depth - count)


@dataclass(frozen=True)
class Depth:
    """How many top layers go of which stack."""

    layers: int = 1
    stack: str = "encoder"
    reset_to: int = 25_000  # updates before it; the others of the training follow it

    def prune(self, study: Study, work: Path) -> Pruned:
        """The student without its top layers, trained to convergence.

        work: as `late_reset.LateReset.prune`.  Raises InputError as `cut_layers`.
        """
        with pruning_work(self, study, work):
            model = study.checkpoint(self.reset_to)
            cut_layers(model, self.stack, self.layers)
            course = study.train(
                model, start_update=self.reset_to, updates=None, work=work / "final"
            )
        return Pruned(model, History(model, asdict(self)).to_dict(), course)
