"""What options of the students' training ask of the rest of a configuration."""

from collections.abc import Iterator, Mapping
from typing import Any

from goldcrest.configuration.schema import Fault
from goldcrest.configuration.zoo import Zoo
from goldcrest.corpus.cleaning.characters import CASED_SCRIPTS, LANGUAGE_SCRIPTS
from goldcrest.corpus.robustness import KINDS

Config = dict[str, Any]


def augmentation_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Augmentation that adds nothing, or changes the case of a script that has none."""
    shares = config["distillation"].get("augmentation")
    if shares is None:
        return
    place = ("distillation", "augmentation")
    if not any(shares[kind] for kind in KINDS):
        yield Fault(place, f"found no share above 0, expected one of {', '.join(KINDS)}")
    for side, language in config["languages"].items():
        script = LANGUAGE_SCRIPTS.get(language)
        for kind in ("upper_case", "title_case"):
            if shares[kind] and script is not None and script not in CASED_SCRIPTS:
                message = f"found {shares[kind]}, expected 0, as the {side} language '{language}' has no case"
                yield Fault((*place, kind), message)


def augmented_share(config: Mapping[str, Any]) -> float:
    """Text that augmentation adds to the students', as a share of it."""
    shares = config["distillation"].get("augmentation", {})
    return sum(shares.get(kind, 0.0) * (2 if kind == "merged" else 1) for kind in KINDS)
