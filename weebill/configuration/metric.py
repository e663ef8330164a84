"""Experiments of the kind `metric`: contradictions and local files."""

from collections.abc import Iterator, Mapping
from typing import Any

from weebill.configuration.schedules import training_faults, warmup_faults
from weebill.configuration.schema import Fault, contradicted, unknown
from weebill.errors import Key, key_path
from weebill.experiment.metrics import LEXICAL, OURS, PARTS, pruned_metrics, recipe_without
from weebill.experiment.translating_models import may_be_on_hub
from weebill.experiment.zoo import Zoo
from weebill.metric.settings import PretrainingSettings
from weebill.pruning.method import ModelShape
from weebill.pruning.methods import pruning_method
from weebill.settings import defaults

Config = dict[str, Any]


def contradictions(config: Config, zoo: Zoo, broken: set[str]) -> list[Fault]:
    """Return every contradiction; checks that read `broken` sections are skipped."""
    checks = [
        (("encoders", "texts"), _encoders),
        (("reference", "encoders"), _reference),
        (("pruning", "encoders", "reference"), _pruning),
        (("distillation", "encoders"), _distillation),
        (("metrics", "encoders"), _metrics),
        (("test_sets", "metrics"), _test_sets),
        (("test_sets", "evaluation", "reference", "distillation"), _references),
        (("evaluation", "hardware"), _evaluation),
    ]
    return contradicted(checks, broken, config, zoo)


def _encoders(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for name, section in config["encoders"].items():
        place: tuple[Key, ...] = ("encoders", name)
        if section["by"] == "hugging_face":
            continue
        if section["width"] % section["heads"]:
            yield Fault(
                (*place, "width"),
                f"found {section['width']}, expected a multiple of its {section['heads']} heads",
            )
        yield from warmup_faults(place, section, defaults(PretrainingSettings))
        if "texts" not in config:
            yield Fault(
                ("texts",), f"missing, expected files of text to pre-train the encoder '{name}' on"
            )


def _reference(config: Config, zoo: Zoo) -> Iterator[Fault]:
    section = config["reference"]
    if "checkpoint" in section:
        if "judgements" in section:
            yield Fault(
                ("reference", "judgements"), "found beside checkpoint, expected one of both"
            )
        if config["encoders"].get(section.get("encoder"), {}).get("by") == "pretraining":
            yield Fault(
                ("reference", "encoder"),
                "is made here, expected the checkpoint's own, by hugging_face",
            )
        yield from _known_encoder(config, section, "reference")
        return
    for key in ("encoder", "judgements"):
        if key not in section:
            yield Fault(
                ("reference", key), "missing, expected it to train a reference, or a checkpoint"
            )
    yield from _known_encoder(config, section, "reference")


def _known_encoder(config: Config, section: Config, *place: Key) -> Iterator[Fault]:
    name = section.get("encoder")
    if name is not None and name not in config["encoders"]:
        yield Fault((*place, "encoder"), unknown("encoder", name, config["encoders"], "encoders"))


def _pruning(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "pruning" not in config:
        return
    pruning, name = config["pruning"], config["reference"].get("encoder")
    encoder = config["encoders"].get(name, {})
    shapes = {name: _shape_of(encoder)} if "layers" in encoder else {}
    asked: list[tuple[tuple[Key, ...], dict[str, Any]]] = [
        ((part, index), method)
        for part in PARTS
        for index, amount in enumerate(pruning[part])
        for method in recipe_without(**{part: amount})
    ]
    asked += [(("recipe", index), method) for index, method in enumerate(pruning.get("recipe", []))]
    for place, recipe in asked:
        method = pruning_method(recipe)
        for key, message in [*method.conflicts({}), *method.faults(shapes)]:
            here = (*place, *key) if place[0] == "recipe" else place
            yield Fault(("pruning", *here), message)


def _shape_of(encoder: Mapping[str, Any]) -> ModelShape:
    """Return the shape of an encoder that is made here."""
    layers = range(encoder["layers"])
    return ModelShape(
        heads={f"encoder.{layer}.self_attention": encoder["heads"] for layer in layers},
        neurons={f"encoder.{layer}.feed_forward": encoder["intermediate"] for layer in layers},
        layers={"encoder": len(layers)},
    )


def _distillation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "distillation" not in config:
        return
    yield from _known_encoder(config, config["distillation"], "distillation")
    for name, pairs in config["distillation"]["pairs"].items():
        place = ("distillation", "pairs", name)
        files = [key for key in ("source", "target") if key in pairs]
        if ("table" in pairs) == bool(files) or len(files) == 1:
            yield Fault(place, "expected a table, or both source and target")
        for one, translation in pairs["translations"].items():
            here = (*place, "translations", one)
            if translation["by"] == "training":
                for key in ("rows", "validation"):
                    if not pairs["translators"][key]:
                        yield Fault(
                            (*place, "translators", key),
                            f"missing, expected how many pairs '{one}' is trained and validated by",
                        )
                if translation["architecture"] not in zoo:
                    told = unknown("model", translation["architecture"], zoo, "config/models.yaml")
                    yield Fault((*here, "architecture"), told)
                yield from training_faults((*here, "training"), translation["training"])
            elif len(translation.get("languages", [])) not in (0, len(translation["models"]) + 1):
                yield Fault(
                    (*here, "languages"),
                    "expected the codes of all languages on the way, one more than there are models",
                )


TAKEN = "is the name of a metric that is measured here, expected another"


def _metrics(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for name, section in config["metrics"].items():
        place: tuple[Key, ...] = ("metrics", name)
        if name in (*LEXICAL, *OURS, *pruned_metrics(config)):
            yield Fault(place, TAKEN)
        yield from _known_encoder(config, section, *place)
        layers = config["encoders"].get(section["encoder"], {}).get("layers")
        if layers is None:
            continue
        if section["by"] == "bleurt":
            yield Fault((*place, "encoder"), "is made here, expected a BLEURT model that is there")
        elif section["layer"] > layers:
            yield Fault(
                (*place, "layer"), f"found {section['layer']}, expected one of its {layers} layers"
            )


def _test_sets(config: Config, zoo: Zoo) -> Iterator[Fault]:
    columns: dict[str, str] = {}  # the paper's column: test set
    for name, entry in config["test_sets"].items():
        column = entry.get("paper")
        if column in columns:
            yield Fault(
                ("test_sets", name, "paper"),
                f"found '{column}', which test_sets.{columns[column]} has too, expected one test set a column",
            )
        elif column is not None:
            columns[column] = name
        for other in entry["scores"]:
            if other in (*LEXICAL, *config["metrics"], *OURS):
                yield Fault(("test_sets", name, "scores", other), TAKEN)
        if name == "development":
            yield Fault(
                ("test_sets", name), "is what pruning calls its own set, expected another name"
            )


def _references(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for missing references if a metric that is trained here reads them."""
    trained = {"reference": config["reference"], "distillation": config.get("distillation")}
    if "checkpoint" in config["reference"]:  # its inputs are known only from its file
        del trained["reference"]
    for section, one in trained.items():
        if one is None or one["training"]["kind"] != "regression_metric":
            continue
        reads = f"the metric of {section}.training reads references"
        for name, entry in config["test_sets"].items():
            if not entry["references"]:
                yield Fault(("test_sets", name, "references"), f"found false, but {reads}")
        speed = config["evaluation"].get("speed")
        if speed is not None and "references" not in speed:
            yield Fault(("evaluation", "speed", "references"), f"missing, but {reads}")


def _evaluation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for index, path in enumerate(config["evaluation"].get("speed", {}).get("systems", [])):
        if not path.strip():
            yield Fault(("evaluation", "speed", "systems", index), "found nothing, expected a file")
    yield from precision_faults(
        config, config["evaluation"]["precision"], "evaluation", "precision"
    )


def precision_faults(config: Config, precision: str, *place: str) -> Iterator[Fault]:
    """Yield a fault for a metric's precision that the experiment's device cannot compute.

    place: key path of the precision.
    """
    if precision == "int8" and config["hardware"]["accelerator"] == "gpu":
        yield Fault(
            place,
            "found int8, which processors compute, with hardware.accelerator gpu, expected bfloat16 or float32",
        )


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for index, path in enumerate(config.get("texts", [])):
        yield f"texts[{index}]", path
    for name, section in config["encoders"].items():
        if section["by"] == "hugging_face" and "revision" not in section:
            yield f"encoders.{name}.hugging_face", section["hugging_face"]
    checkpoint = config["reference"].get("checkpoint")
    if checkpoint is not None and not may_be_on_hub(checkpoint):
        yield "reference.checkpoint", checkpoint
    lists = [("reference", config["reference"].get("judgements", []))]
    if "pruning" in config:
        lists.append(("pruning", config["pruning"]["judgements"]))
        yield "pruning.development.table", config["pruning"]["development"]["table"]
    for section, judgements in lists:
        for index, entry in enumerate(judgements):
            yield f"{section}.judgements[{index}].table", entry["table"]
    for name, entry in config["test_sets"].items():
        yield f"test_sets.{name}.table", entry["table"]
        for metric, path in entry["scores"].items():
            yield f"test_sets.{name}.scores.{metric}", path
    for name, pairs in config.get("distillation", {}).get("pairs", {}).items():
        for key in ("table", "source", "target"):
            if key in pairs:
                yield key_path(("distillation", "pairs", name, key)), pairs[key]
    speed = config["evaluation"].get("speed", {})
    for key in ("sources", "references"):
        if key in speed:
            yield f"evaluation.speed.{key}", speed[key]
    for index, path in enumerate(speed.get("systems", [])):
        yield f"evaluation.speed.systems[{index}]", path
