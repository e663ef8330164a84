"""Checks of schedules: trainings that end before their warm-up, their first validation, or their last part."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from weebill.configuration.schema import Config, Fault, Place, at
from weebill.errors import key_path
from weebill.experiment.translating_models import PLACES
from weebill.experiment.zoo import Zoo
from weebill.pruning.recipes import methods_of

USUAL = 10  # warm-up and interval between validations are usually a tenth of the updates
# A fine-tuning may end within its warm-up, as in the papers (6,000 updates of 16,000 or 32,000), but not before the
# learning rate has reached a tenth of its peak.
LONGEST = 10


def _trained(place: tuple[str, ...], config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield the faults in the schedule of the model at `place`, if it is trained here; () means the students."""
    section: Any = config
    for key in place:
        section = section.get(key, {})
    if not place or "architecture" in section:  # else the model exists
        yield from training_faults((*place, "training"), section["training"])


def training_faults(place: Place, training: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a warm-up, or a time until the first validation, that is too long for a training."""
    yield from warmup_faults(place, training)
    yield from _validation_faults(place, training)


def warmup_faults(place: Place, training: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a warm-up that lasts to the end."""
    if training["warmup"] >= training["updates"]:
        yield Fault(
            (*place, "warmup"),
            f"{_found(place, training, 'warmup')}, expected less, or the learning rate never reaches its peak "
            f"and little is learnt: write 'warmup: {training['updates'] // USUAL}', a tenth of the updates, as is "
            "usual",
        )


def _validation_faults(place: Place, training: Mapping[str, Any]) -> Iterator[Fault]:
    updates = training["updates"]
    if training["validate_every"] > updates:
        yield Fault(
            (*place, "validate_every"),
            f"{_found(place, training, 'validate_every')}, expected at most these, or nothing is ever "
            f"validated: write 'validate_every: {max(1, updates // USUAL)}' for {min(updates, USUAL)} validations",
        )


def _found(place: Place, training: Mapping[str, Any], key: str) -> str:
    updates = key_path((*place, "updates"))
    return f"found {training[key]} of {training['updates']} updates ({updates})"


def _finetunings(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, training in at(config, "quantization.*.finetune"):
        updates = training["updates"]
        if training["warmup"] > LONGEST * updates:
            yield Fault(
                (*place, "warmup"),
                f"{_found(place, training, 'warmup')}, expected at most {LONGEST * updates}, or the learning "
                "rate stays below a tenth of its peak and little is learnt: write "
                f"'warmup: {updates // USUAL}', a tenth of the updates",
            )
        # Without this key, the one in `training` applies, and a shorter fine-tuning keeps its last update.
        if "validate_every" in training:
            yield from _validation_faults(place, training)


def long_finetunings(config: Config) -> Iterator[str]:
    """Yield a sentence for each fine-tuning with more updates than the students' whole training."""
    whole = config.get("training", {}).get("updates", 0)
    for place, training in at(config, "quantization.*.finetune"):
        if training["updates"] > whole:
            key = key_path((*place, "updates"))
            yield f"{key}: {training['updates']:,}, more than the students' whole training, {whole:,}"


def _pruned(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each recipe whose last training has no updates, or ends before its first validation."""
    training = config["training"]
    whole, every = training["updates"], training["validate_every"]
    for name, method in methods_of(config).items():
        place, start = ("pruning", name), method.reset_to
        spent = {"reset_to": start, **method.phases}
        rest, last = whole - sum(spent.values()), list(spent)[-1]
        less = f"less than training.updates {whole}"
        if start >= whole:
            expected = f"{less}, which count from the start"
            yield Fault((*place, "reset_to"), f"found {start}, expected {expected}")
            continue
        for key, more in method.phases.items():
            if start + more >= whole:
                expected = f"together {less}, whose last train what is left"
                message = f"found {more} after reset_to {start}, expected {expected}"
                yield Fault((*place, key), message)
        for key, more in method.undone.items():
            if training["decay"] == "linear" and start + more > whole:
                expected = f"together at most training.updates {whole}, where a linear decay ends"
                yield Fault(
                    (*place, key), f"found {more} after reset_to {start}, expected {expected}"
                )
        if 0 < rest < every <= whole:
            yield Fault(
                (*place, last),
                f"found {spent[last]}, which leaves {rest} of training.updates {whole} for the last "
                f"training, expected at least training.validate_every {every}, or it is never validated: lower "
                f"{last}, or write 'validate_every: {max(1, rest // USUAL)}' in training",
            )


CHECKS = (*(partial(_trained, place) for place in (*PLACES, ())), _pruned, _finetunings)
