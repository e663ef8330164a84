"""What is cleaned and scored of each corpus: a section's keys with the corpus' own laid over them."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlparse

from weebill.configuration.data import address
from weebill.configuration.schema import Fault
from weebill.configuration.teachers import origin_faults
from weebill.corpus.download import is_url
from weebill.corpus.scores.registry import SCORES
from weebill.corpus.sources import USES, sides_of
from weebill.errors import nearest
from weebill.experiment.training_texts import KINDS, corpora_of
from weebill.experiment.zoo import Zoo, members

Config = dict[str, Any]
Stage = Literal["cleaning", "back_translation", "distillation"]
STAGES: tuple[Stage, ...] = ("cleaning", "back_translation", "distillation")


def section_of(config: Config, corpus: str, stage: Stage) -> Config:
    """A stage's section of a checked configuration, as it holds for one corpus."""
    return _laid_over(config[stage], config["corpora"][corpus].get(stage, {}))


def _laid_over(section: Mapping[str, Any], own: Mapping[str, Any]) -> Config:
    """A section with a corpus' own keys; a cut is replaced as a whole, since its keys exclude each other."""
    merged = dict(section)
    for key, value in own.items():
        deeper = isinstance(value, Mapping) and key != "cut" and key in merged
        merged[key] = _laid_over(merged[key], value) if deeper else value
    return merged


def scores_of(config: Config, corpus: str, stage: Stage) -> Config:
    """Settings by name of the scores that a corpus has at a stage, in the order in which they drop rows.

    Before it is translated, monolingual text has one side alone.
    """
    configured = section_of(config, corpus, stage)["scores"]
    monolingual = USES[config["corpora"][corpus]["use"]]
    if stage == "back_translation" and monolingual != "target":
        return {}
    sides = sides_of(monolingual if stage == "cleaning" else None)
    return {
        name: configured[name]
        for name, score in SCORES.items()
        if name in configured and set(score.sides) <= set(sides)
    }


def components(config: Config) -> list[str]:
    """The names of the scores that `scoring` has models for, which the combined score is made of."""
    always = {"language_model_source", "language_model_target"}
    return [name for name in SCORES if name in always or name in config["scoring"]]


def asked_for(config: Config) -> set[str]:
    """The names of all scores that some stage has."""
    return {name for stage in STAGES for name in config[stage]["scores"]}


def cuts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """A cut has one measure."""
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
    """A corpus overrides only what its stage has, and what applies to it."""
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
    """The classifier is there where it is asked for; of an archive the checksum is known, and how it is packed."""
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
    """The lexical score has its settings where it is asked for, and text of its own on both sides or neither."""
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
    """The combined score has labelled pairs to be fitted to."""
    if "combined" in asked_for(config) and "labelled" not in config["evaluation"]:
        message = "missing, expected the labelled pairs that the score combined is fitted to"
        yield Fault(("evaluation", "labelled"), message)


def reverse_teacher(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """The reverse teacher has text to translate back, or to score."""
    scores = "reverse_model" in asked_for(config) and "reverse_model" not in config["scoring"]
    if "reverse_teacher" in config and not scores and not corpora_of(config, "backward"):
        message = (
            f"found without work, expected a corpus with use: {KINDS['backward']}, "
            "or the score reverse_model without a model of its own"
        )
        yield Fault(("reverse_teacher",), message)


def reverse_model(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """The reverse model is there where it is asked for, and is one that can be trained or read."""
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
