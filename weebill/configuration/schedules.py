"""Checks of schedules: trainings that end before their warm-up, their first validation, or their last part."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from weebill.configuration.schema import Config, Fault, Place
from weebill.configuration.sections.quantization import Finetuning, LogFinetuning
from weebill.errors import key_path
from weebill.experiment.translating_models import PLACES
from weebill.experiment.zoo import Zoo
from weebill.pruning.recipes import methods_of
from weebill.settings import defaults
from weebill.translation.training.settings import TrainingConfig

USUAL = 10  # the usual warm-up, and distance of two validations, is a tenth of the updates
# A fine-tuning may end within its warm-up, as in the papers (6,000 updates of 16,000 or 32,000), but not before the
# learning rate has reached a tenth of its peak.
LONGEST = 10


def updates(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe that leaves no updates for the last training."""
    whole = config["training"]["updates"]
    for name, method in methods_of(config).items():
        start = method.reset_to
        if start >= whole:
            message = f"found {start}, expected less than training.updates {whole}, which count from the start"
            yield Fault(("pruning", name, "reset_to"), message)
            continue
        for key, spent in method.phases.items():
            if start + spent >= whole:
                message = (
                    f"found {spent} after reset_to {start}, expected together less than "
                    f"training.updates {whole}, whose last train what is left"
                )
                yield Fault(("pruning", name, key), message)


def trained(place: tuple[str, ...], config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield the faults in the schedule of the model at `place`, if it is trained here; at (): of the students."""
    section: Any = config
    for key in place:
        section = section.get(key, {})
    if not place or "architecture" in section:  # else the model exists
        yield from training_faults((*place, "training"), section["training"])


def training_faults(place: Place, training: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a warm-up, or a distance to the first validation, that is too long for a training."""
    yield from warmup_faults(place, training, defaults(TrainingConfig))
    yield from _validation_faults(place, training, defaults(TrainingConfig))


def warmup_faults(
    place: Place, training: Mapping[str, Any], usual: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield a fault for a warm-up that lasts to the end of a training from random weights.

    usual: default settings, so that the message can mark the value as the default.
    """
    if training["warmup"] >= training["updates"]:
        yield Fault(
            (*place, "warmup"),
            f"{_found(place, training, 'warmup', usual)}, expected less, or the learning rate never reaches its peak "
            f"and little is learnt: write 'warmup: {training['updates'] // USUAL}', a tenth of the updates, as is "
            "usual",
        )


def _validation_faults(
    place: Place, training: Mapping[str, Any], usual: Mapping[str, Any]
) -> Iterator[Fault]:
    updates = training["updates"]
    if training["validate_every"] > updates:
        yield Fault(
            (*place, "validate_every"),
            f"{_found(place, training, 'validate_every', usual)}, expected at most these, or nothing is ever "
            f"validated: write 'validate_every: {max(1, updates // USUAL)}' for {min(updates, USUAL)} validations",
        )


def _found(place: Place, training: Mapping[str, Any], key: str, usual: Mapping[str, Any]) -> str:
    default = " (the default)" if training[key] == usual.get(key) else ""
    updates = key_path((*place, "updates"))
    return f"found {training[key]}{default} of {training['updates']} updates ({updates})"


def finetunings(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each fine-tuning that is too short for its warm-up, or for its own `validate_every`."""
    for grid, section in config["quantization"].items():
        if not isinstance(section, Mapping) or "finetune" not in section:
            continue
        place, training = ("quantization", grid, "finetune"), section["finetune"]
        updates, usual = (
            training["updates"],
            defaults(LogFinetuning if grid == "log4" else Finetuning),
        )
        if training["warmup"] > LONGEST * updates:
            yield Fault(
                (*place, "warmup"),
                f"{_found(place, training, 'warmup', usual)}, expected at most {LONGEST * updates}, or the learning "
                "rate stays below a tenth of its peak and little is learnt: write "
                f"'warmup: {updates // USUAL}', a tenth of the updates",
            )
        # Without it, the key of `training` holds, and a shorter fine-tuning keeps its last update.
        if "validate_every" in training:
            yield from _validation_faults(place, training, {})


def pruned(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose last training ends before its first validation."""
    training = config["training"]
    whole, every = training["updates"], training["validate_every"]
    for name, method in methods_of(config).items():
        spent = {"reset_to": method.reset_to, **method.phases}
        rest = whole - sum(spent.values())
        if 0 < rest < every <= whole:
            key = list(spent)[-1]
            yield Fault(
                ("pruning", name, key),
                f"found {spent[key]}, which leaves {rest} of training.updates {whole} for the last "
                f"training, expected at least training.validate_every {every}, or it is never validated: lower "
                f"{key}, or write 'validate_every: {max(1, rest // USUAL)}' in training",
            )


CHECKS = (
    updates,
    *(partial(trained, place) for place in (*PLACES, ())),
    pruned,
    finetunings,
)
