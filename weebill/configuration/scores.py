"""Contradictions in the cleaning and the scores of each corpus."""

from collections.abc import Iterator
from urllib.parse import urlparse

from weebill.configuration.data import address
from weebill.configuration.models import origin_faults, zoo_fault
from weebill.configuration.schema import Config, Fault, at, unknown
from weebill.corpus.download import is_url
from weebill.experiment.corpora import USES
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import KINDS, corpora_of
from weebill.experiment.zoo import Zoo


def _cuts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each cut with more than one measure."""
    stages = f"{'|'.join(STAGES)}.scores.*.cut"
    for place, cut in at(config, stages, f"corpora.*.{stages}"):
        if len(cut) > 1:
            message = f"found {' and '.join(cut)}, expected one of percent, best, threshold"
            yield Fault(place, message)


def _overrides(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each override of a setting that the stage lacks, or that does not apply to the corpus."""
    for name, entry in config["corpora"].items():
        side = USES[entry["use"]]
        for stage in STAGES:
            own, known = entry.get(stage, {}), config[stage]["scores"]
            if own and stage == "back_translation" and side != "target":
                message = "found, expected use: monolingual-target, which is translated back"
                yield Fault(("corpora", name, stage), message)
            if "language_id" in own and "language_id" not in config[stage]:
                message = "found, expected cleaning.language_id too, which names the model"
                yield Fault(("corpora", name, stage, "language_id"), message)
            for score in own.get("scores", {}):
                place = ("corpora", name, stage, "scores", score)
                if score not in known:
                    yield Fault(place, unknown("score", score, known, f"{stage}.scores"))
                elif score not in scores_of(config, name, stage):
                    other = "target" if side == "source" else "source"
                    yield Fault(place, f"found in a monolingual corpus, which has no {other} yet")


def _bicleaner(config: Config, zoo: Zoo) -> Iterator[Fault]:
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


def _reverse_model(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a reverse model that is missing, or that can be neither trained nor read."""
    model, place = config["scoring"].get("reverse_model"), ("scoring", "reverse_model")
    if model is None:
        if "reverse_model" in asked_for(config) and "reverse_teacher" not in config:
            yield Fault(place, "missing, expected the model of the score reverse_model")
        return
    yield from origin_faults(place, model, zoo)
    name = model.get("architecture")
    if name not in zoo:
        return
    found = list(zoo_fault((*place, "architecture"), name, zoo, single=True))
    yield from found
    if not found and "size" not in config["vocabulary"] and "vocabulary" not in zoo[name]:
        message = f"found '{name}', whose vocabulary has no size, expected the key vocabulary.size"
        yield Fault((*place, "architecture"), message)


def _reverse_teacher(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a reverse teacher with no text to translate back, and none to score."""
    scores = "reverse_model" in asked_for(config) and "reverse_model" not in config["scoring"]
    if "reverse_teacher" in config and not scores and not corpora_of(config, "backward"):
        message = (
            f"found without work, expected a corpus with use: {KINDS['backward']}, "
            "or the score reverse_model without a model of its own"
        )
        yield Fault(("reverse_teacher",), message)


def _lexical(config: Config, zoo: Zoo) -> Iterator[Fault]:
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
    elif len({len(settings[key]) for key in sides}) > 1:
        found = " and ".join(f"{len(settings[key])} files of {key}" for key in sides)
        yield Fault(place, f"found {found}, expected as many of both, line by line alike")


def _combined(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a combined score without labelled pairs, to which it is fitted."""
    if "combined" in asked_for(config) and "labelled" not in config["evaluation"]:
        message = "missing, expected the labelled pairs that the score combined is fitted to"
        yield Fault(("evaluation", "labelled"), message)


CHECKS = (_cuts, _overrides, _bicleaner, _reverse_model, _reverse_teacher, _lexical, _combined)
