"""Contradictions in the cleaning and the scores of each corpus."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse

from weebill.configuration.data import address
from weebill.configuration.schema import Fault
from weebill.configuration.teachers import origin_faults
from weebill.corpus.download import is_url
from weebill.errors import nearest
from weebill.experiment.corpora import USES
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import KINDS, corpora_of
from weebill.experiment.zoo import Zoo, members

Config = dict[str, Any]


def cuts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each cut with more than one measure."""
    places: list[tuple[tuple, Config]] = [((stage,), config[stage]) for stage in STAGES]
    for name, entry in config["corpora"].items():
        places += [(("corpora", name, stage), entry.get(stage, {})) for stage in STAGES]
    for place, section in places:
        for score, settings in section.get("scores", {}).items():
            if len(settings["cut"]) > 1:
                found = " and ".join(settings["cut"])
                message = f"found {found}, expected one of percent, best, threshold"
                yield Fault((*place, "scores", score, "cut"), message)


def overrides(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each override of a setting that the stage lacks, or that does not apply to the corpus."""
    for name, entry in config["corpora"].items():
        for stage in STAGES:
            own = entry.get(stage, {})
            if own and stage == "back_translation" and USES[entry["use"]] != "target":
                message = "found, expected use: monolingual-target, which is translated back"
                yield Fault(("corpora", name, stage), message)
            if "language_id" in own and "language_id" not in config[stage]:
                message = "found, expected cleaning.language_id too, which names the model"
                yield Fault(("corpora", name, stage, "language_id"), message)
            for score in own.get("scores", {}):
                place = ("corpora", name, stage, "scores", score)
                known = config[stage]["scores"]
                if score not in known:
                    message = f"no score '{score}' in {stage}.scores{nearest(score, known)}"
                    yield Fault(place, message)
                elif score not in scores_of(config, name, stage):
                    other = "target" if USES[entry["use"]] == "source" else "source"
                    yield Fault(place, f"found in a monolingual corpus, which has no {other} yet")


def bicleaner(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a classifier that is missing, or is fetched without a checksum or from an unknown archive."""
    settings, place = config["scoring"].get("bicleaner"), ("scoring", "bicleaner")
    if settings is None:
        if "bicleaner" in asked_for(config):
            message = "missing, expected the model of the score bicleaner ({} trains one)"
            yield Fault(place, message)
        return
    model, checksum = settings.get("model", ""), settings.get("sha256")
    yield from address((*place, "model"), model, (*place, "sha256"), checksum)
    if is_url(model) and not urlparse(model).path.endswith((".tgz", ".tar.gz")):
        yield Fault((*place, "model"), f"found '{model}', expected an archive .tgz or .tar.gz")
    if checksum is not None and not is_url(model):
        message = "found a checksum, expected it beside an address in model alone"
        yield Fault((*place, "sha256"), message)


def lexical_translation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a lexical score without settings, or with its own text on one side only."""
    place = ("scoring", "lexical_translation")
    settings = config["scoring"].get("lexical_translation")
    if settings is None:
        if "lexical_translation" in asked_for(config):
            yield Fault(place, "missing, expected the model of the score lexical_translation")
        return
    sides = [key for key in ("source_text", "target_text") if key in settings]
    if len(sides) == 1:
        yield Fault(place, f"found {sides[0]} alone, expected both sides' text, or neither's")
    elif sides and len(settings["source_text"]) != len(settings["target_text"]):
        found = " and ".join(f"{len(settings[key])} files of {key}" for key in sides)
        yield Fault(place, f"found {found}, expected as many of both, line by line alike")


def combined(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a combined score without labelled pairs, to which it is fitted."""
    if "combined" in asked_for(config) and "labelled" not in config["evaluation"]:
        message = "missing, expected the labelled pairs that the score combined is fitted to"
        yield Fault(("evaluation", "labelled"), message)


def reverse_teacher(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a reverse teacher with no text to translate back, and none to score."""
    scores = "reverse_model" in asked_for(config) and "reverse_model" not in config["scoring"]
    if "reverse_teacher" in config and not scores and not corpora_of(config, "backward"):
        message = (
            f"found without work, expected a corpus with use: {KINDS['backward']}, "
            "or the score reverse_model without a model of its own"
        )
        yield Fault(("reverse_teacher",), message)


def reverse_model(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a reverse model that is missing, or that can be neither trained nor read."""
    model = config["scoring"].get("reverse_model")
    place = ("scoring", "reverse_model")
    if model is None:
        if "reverse_model" in asked_for(config) and "reverse_teacher" not in config:
            yield Fault(place, "missing, expected the model of the score reverse_model")
        return
    yield from origin_faults(place, model, zoo)
    name = model.get("architecture")
    if name not in zoo:
        return
    if len(members(zoo[name])) > 1:
        message = f"found '{name}', an ensemble, expected a single model"
        yield Fault((*place, "architecture"), message)
    elif "size" not in config["vocabulary"] and "vocabulary" not in zoo[name]:
        message = f"found '{name}', whose vocabulary has no size, expected the key vocabulary.size"
        yield Fault((*place, "architecture"), message)
