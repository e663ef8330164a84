"""Checks for contradictions in the cleaning and the scores of each corpus."""

from collections.abc import Iterator
from itertools import starmap

from weebill.configuration.models import origin_faults, zoo_fault
from weebill.configuration.schema import Config, Fault, at, unknown
from weebill.corpus.download import is_url, path_in
from weebill.corpus.sources import address_faults
from weebill.experiment.corpora import USES
from weebill.experiment.scores import STAGES, asked_for, scores_of
from weebill.experiment.training_texts import KINDS, corpora_of
from weebill.experiment.zoo import Zoo, members


def _cuts(config: Config, zoo: Zoo) -> Iterator[Fault]:
    stages = f"{'|'.join(STAGES)}.scores.*.cut"
    for place, cut in at(config, stages, f"corpora.*.{stages}"):
        if len(cut) > 1:
            message = f"found {' and '.join(cut)}, expected one of percent, best, threshold"
            yield Fault(place, message)


def _overrides(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each override of a setting that the stage lacks or the corpus cannot have."""
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
    if "bicleaner" in asked_for(config) and "bicleaner" not in config["scoring"]:
        message = "missing, expected the model of the score bicleaner ({} trains one)"
        yield Fault(("scoring", "bicleaner"), message)
    for place, settings in at(config, "scoring.bicleaner"):
        model, checksum = settings.get("model", ""), settings.get("sha256")
        key, sha256 = (*place, "model"), (*place, "sha256")
        yield from starmap(Fault, address_faults(key, model, sha256, checksum))
        if is_url(model) and not path_in(model).endswith((".tgz", ".tar.gz")):
            yield Fault(key, f"found '{model}', expected an archive .tgz or .tar.gz")
        if checksum is not None and not is_url(model):
            message = "found a checksum, expected it beside an address in model alone"
            yield Fault(sha256, message)


def _reverse_model(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a reverse model that is missing or unsuitable, and for a reverse teacher without use."""
    needed = "reverse_model" in asked_for(config) and "reverse_model" not in config["scoring"]
    if needed and "reverse_teacher" not in config:
        message = "missing, expected the model of the score reverse_model"
        yield Fault(("scoring", "reverse_model"), message)
    for place, model in at(config, "scoring.reverse_model"):
        yield from origin_faults(place, model, zoo)
        name, key = model.get("architecture"), (*place, "architecture")
        if name in zoo and len(members(zoo[name])) > 1:
            yield from zoo_fault(key, name, zoo, single=True)
        elif name in zoo and not ("size" in config["vocabulary"] or "vocabulary" in zoo[name]):
            found = f"found '{name}', whose vocabulary has no size"
            yield Fault(key, f"{found}, expected the key vocabulary.size")
    if "reverse_teacher" in config and not needed and not corpora_of(config, "backward"):
        expected = f"a corpus with use: {KINDS['backward']}, or the score reverse_model without a model of its own"
        yield Fault(("reverse_teacher",), f"found without work, expected {expected}")


def _lexical(config: Config, zoo: Zoo) -> Iterator[Fault]:
    name = "lexical_translation"
    if name in asked_for(config) and name not in config["scoring"]:
        yield Fault(("scoring", name), f"missing, expected the model of the score {name}")
    for place, settings in at(config, f"scoring.{name}"):
        texts = {key: text for (key,), text in at(settings, "source_text|target_text")}
        if len(texts) == 1:
            message = f"found {', '.join(texts)} alone, expected both sides' text, or neither's"
            yield Fault(place, message)
        elif len({len(text) for text in texts.values()}) > 1:
            found = " and ".join(f"{len(text)} files of {key}" for key, text in texts.items())
            yield Fault(place, f"found {found}, expected as many of both, line by line alike")


def _combined(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "combined" in asked_for(config) and "labelled" not in config["evaluation"]:
        message = "missing, expected the labelled pairs that the score combined is fitted to"
        yield Fault(("evaluation", "labelled"), message)


CHECKS = (_cuts, _overrides, _bicleaner, _reverse_model, _lexical, _combined)
