"""Checks of schedules: trainings that end before their warm-up, or before their first validation."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weebill.configuration.schema import Fault
from weebill.configuration.sections.quantization import Finetuning, LogFinetuning
from weebill.errors import Key, key_path
from weebill.experiment.zoo import Zoo
from weebill.pruning.recipes import methods_of
from weebill.settings import defaults
from weebill.translation.training.settings import TrainingConfig

Config = dict[str, Any]
USUAL = 10  # the usual warm-up, and distance of two validations, is a tenth of the updates
# A fine-tuning may end within its warm-up, as in the papers (6,000 updates of 16,000 or 32,000), but not before the
# learning rate has reached a tenth of its peak.
LONGEST = 10


def trained(*place: str) -> Callable[[Config, Zoo], Iterator[Fault]]:
    """Return the check of the training of the model at a place, such as `teacher`."""

    def check(config: Config, zoo: Zoo) -> Iterator[Fault]:
        section: Any = config
        for key in place:
            section = section.get(key, {})
        if "architecture" in section:  # else the model exists and is not trained
            yield from training_faults((*place, "training"), section["training"])

    return check


def students(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield the faults in the schedule of the students' training, `training`."""
    yield from training_faults(("training",), config["training"])


def training_faults(place: tuple[Key, ...], training: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a warm-up, or a distance to the first validation, that is too long for a training."""
    yield from warmup_faults(place, training, defaults(TrainingConfig))
    yield from validation_faults(place, training, defaults(TrainingConfig))


def warmup_faults(
    place: tuple[Key, ...],
    training: Mapping[str, Any],
    usual: Mapping[str, Any],
) -> Iterator[Fault]:
    """Yield a fault for a warm-up that lasts to the end of a training from random weights.

    usual: default settings, so that the message can mark the value as the default.
    """
    updates, warmup = training["updates"], training["warmup"]
    if warmup >= updates:
        yield Fault(
            (*place, "warmup"),
            f"found {_told(warmup, usual['warmup'])} of {updates} updates ({key_path((*place, 'updates'))}), "
            "expected less, or the learning rate never reaches its peak and little is learnt: write "
            f"'warmup: {updates // USUAL}', a tenth of the updates, as is usual",
        )


def validation_faults(
    place: tuple[Key, ...], training: Mapping[str, Any], usual: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield a fault for a first validation that comes after the end of a training."""
    updates, every = training["updates"], training["validate_every"]
    if every > updates:
        yield Fault(
            (*place, "validate_every"),
            f"found {_told(every, usual.get('validate_every'))} of {updates} updates "
            f"({key_path((*place, 'updates'))}), expected at most these, or nothing is ever validated: write "
            f"'validate_every: {max(1, updates // USUAL)}' for {min(updates, USUAL)} validations",
        )


def finetunings(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each fine-tuning that is too short for its warm-up, or for its own `validate_every`."""
    for grid, section in config["quantization"].items():
        if not isinstance(section, Mapping) or "finetune" not in section:
            continue
        place, training = ("quantization", grid, "finetune"), section["finetune"]
        updates, warmup = training["updates"], training["warmup"]
        usual = defaults(Finetuning if grid != "log4" else LogFinetuning)
        if warmup > LONGEST * updates:
            yield Fault(
                (*place, "warmup"),
                f"found {_told(warmup, usual['warmup'])} of {updates} updates ({key_path((*place, 'updates'))}), "
                f"expected at most {LONGEST * updates}, or the learning rate stays below a tenth of its peak and "
                f"little is learnt: write 'warmup: {updates // USUAL}', a tenth of the updates",
            )
        # Without it, the key of `training` holds, and a shorter fine-tuning keeps its last update.
        if "validate_every" in training:
            yield from validation_faults(place, training, {})


def pruned(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose last training ends before its first validation."""
    training = config["training"]
    whole, every = training["updates"], training["validate_every"]
    for name, method in methods_of(config).items():
        spent = method.reset_to + sum(method.phases.values())
        if whole - every < spent < whole and every <= whole:
            key, found = next(reversed({"reset_to": method.reset_to, **method.phases}.items()))
            yield Fault(
                ("pruning", name, key),
                f"found {found}, which leaves {whole - spent} of training.updates {whole} for the last "
                f"training, expected at least training.validate_every {every}, or it is never validated: lower "
                f"{key}, or write 'validate_every: {max(1, (whole - spent) // USUAL)}' in training",
            )


def _told(value: int, default: Any) -> str:
    return f"{value} (the default)" if value == default else str(value)
