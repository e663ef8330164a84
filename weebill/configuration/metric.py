"""Experiments of the kind `metric`: contradictions and local files."""

from collections.abc import Iterator

from weebill.configuration.local_files import (
    unfit_encoders,
    unfit_folders,
    unfit_references,
    unfit_texts,
    unfit_translators,
)
from weebill.configuration.models import (
    hub_name_fault,
    precision_faults,
    width_fault,
    zoo_fault,
)
from weebill.configuration.schedules import training_faults, warmup_faults
from weebill.configuration.schema import Config, Fault, Place, absent, at
from weebill.errors import Key, key_path
from weebill.experiment.metrics import (
    LEXICAL,
    OURS,
    PARTS,
    curve,
    distilled_metrics,
    pruned_metrics,
    recipe_without,
)
from weebill.experiment.translating_models import may_be_on_hub
from weebill.experiment.zoo import Zoo
from weebill.pruning.method import ModelShape
from weebill.pruning.methods import pruning_method

TAKEN = "is the name of a metric that is measured here, expected another"
# Keys of files and folders; some values may be names on the hub.  A test set may have several files of scores.
FILES = (
    "texts.*",
    "encoders.*.hugging_face",
    "reference.checkpoint",
    "pruning.development.table",
    "reference|pruning.judgements.*.table",
    "test_sets.*.table|scores",
    "distillation.pairs.*.table|source|target",
    "distillation.pairs.*.translations.*.models.*",
    "evaluation.speed.sources|references",
    "evaluation.speed.systems.*",
)


def _encoders(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for name, section in config["encoders"].items():
        if section["by"] == "hugging_face":
            yield from hub_name_fault(("encoders", name), section)
            continue
        yield from width_fault(("encoders", name), section)
        yield from warmup_faults(("encoders", name), section)
        if section["by"] == "attention-distillation":
            yield from _attention_teacher(config, name, section)
        if "texts" not in config:
            message = f"missing, expected files of text to pre-train the encoder '{name}' on"
            yield Fault(("texts",), message)


def _attention_teacher(config: Config, name: str, section: Config) -> Iterator[Fault]:
    place = ("encoders", name, "teacher")
    yield from absent(place, "encoder", section["teacher"], config["encoders"], "encoders")
    teacher = config["encoders"].get(section["teacher"], {})
    if teacher.get("by") == "attention-distillation":
        yield Fault(place, f"'{section['teacher']}' is such a student itself, expected another one")
    if teacher.get("heads", section["heads"]) != section["heads"]:
        message = f"found {section['heads']}, expected the {teacher['heads']} of the teacher"
        yield Fault(("encoders", name, "heads"), f"{message} '{section['teacher']}'")
    if teacher.get("positions", section["positions"]) < section["positions"]:
        message = f"found {section['positions']}, expected at most the {teacher['positions']} of"
        yield Fault(("encoders", name, "positions"), f"{message} '{section['teacher']}'")


def _reference(config: Config, zoo: Zoo) -> Iterator[Fault]:
    section = config["reference"]
    if "checkpoint" in section:
        if "judgements" in section:
            message = "found beside checkpoint, expected one of both"
            yield Fault(("reference", "judgements"), message)
        encoder = config["encoders"].get(section.get("encoder"))
        if encoder is not None and encoder["by"] != "hugging_face":
            message = "is made here, expected the checkpoint's own, by hugging_face"
            yield Fault(("reference", "encoder"), message)
    else:
        for key in ("encoder", "judgements"):
            if key not in section:
                message = "missing, expected it to train a reference, or a checkpoint"
                yield Fault(("reference", key), message)
    yield from _known_encoder(config, section, "reference")


def _known_encoder(config: Config, section: Config, *place: Key) -> Iterator[Fault]:
    name = section.get("encoder")
    if name is not None:
        yield from absent((*place, "encoder"), "encoder", name, config["encoders"], "encoders")


def _pruning(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "pruning" not in config:
        return
    name, shapes = config["reference"].get("encoder"), {}
    encoder = config["encoders"].get(name, {})
    if "layers" in encoder:  # made here
        layers = range(encoder["layers"])
        shapes[name] = ModelShape(
            heads={f"encoder.{layer}.self_attention": encoder["heads"] for layer in layers},
            neurons={f"encoder.{layer}.feed_forward": encoder["intermediate"] for layer in layers},
            layers={"encoder": len(layers)},
        )
    for name in config["pruning"].get("recipes", {}):
        curves = [one for part in PARTS for one in curve(config, part)]
        if name in (*LEXICAL, *OURS, *distilled_metrics(config), *curves):
            yield Fault(("pruning", "recipes", name), TAKEN)
    for place, one in at(config, *(f"pruning.{key}.*" for key in (*PARTS, "recipe", "recipes.*"))):
        part = str(place[1])
        for settings in recipe_without(**{part: one}) if part in PARTS else [one]:
            method = pruning_method(settings)
            for key, message in [*method.conflicts({}), *method.faults(shapes)]:
                yield Fault(place if part in PARTS else (*place, *key), message)


def _distilled(config: Config, zoo: Zoo) -> Iterator[Fault]:
    if "distillation" not in config:
        return
    yield from _known_encoder(config, config["distillation"], "distillation")
    others = config["distillation"]["other_encoders"]
    for number, name in enumerate(others):
        place = ("distillation", "other_encoders", number)
        yield from absent(place, "encoder", name, config["encoders"], "encoders")
        if name in (config["distillation"]["encoder"], *others[:number]):
            yield Fault(place, f"found '{name}' again, expected each encoder once")
    for name, pairs in config["distillation"]["pairs"].items():
        place = ("distillation", "pairs", name)
        files = [key for key in ("source", "target") if key in pairs]
        if ("table" in pairs) == bool(files) or len(files) == 1:
            yield Fault(place, "expected a table, or both source and target")
        elif files and pairs["source"] == pairs["target"]:
            yield Fault(
                (*place, "target"), f"found '{pairs['target']}' as source too, expected two sides"
            )
        apart = pairs["translators"]["rows"] + pairs["translators"]["validation"]
        if pairs.get("rows", apart + 1) <= apart:
            expected = f"more than the {apart:,} from which translators learn, or none is left to translate"
            yield Fault((*place, "rows"), f"found {pairs['rows']:,}, expected {expected}")
        for one, translation in pairs["translations"].items():
            here = (*place, "translations", one)
            if translation["by"] == "training":
                for key in ("rows", "validation"):
                    if not pairs["translators"][key]:
                        expected = f"how many pairs '{one}' is trained and validated by"
                        yield Fault((*place, "translators", key), f"missing, expected {expected}")
                yield from zoo_fault((*here, "architecture"), translation["architecture"], zoo)
                yield from training_faults((*here, "training"), translation["training"])
                continue
            if len(translation.get("languages", [])) not in (0, len(translation["models"]) + 1):
                expected = "the codes of all languages on the way, one more than there are models"
                yield Fault((*here, "languages"), f"expected {expected}")
            for number, model in enumerate(translation["models"]):
                if isinstance(model, dict):
                    yield from hub_name_fault((*here, "models", number), model)


def _made_or_lexical(config: Config) -> set[str]:
    """Return the names of metrics that are made here or lexical; other metrics must not have them."""
    return {*LEXICAL, *OURS, *pruned_metrics(config), *distilled_metrics(config)}


def _metrics(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for name, section in config["metrics"].items():
        place: Place = ("metrics", name)
        if name in _made_or_lexical(config):
            yield Fault(place, TAKEN)
        yield from _known_encoder(config, section, *place)
        layers = config["encoders"].get(section["encoder"], {}).get("layers")
        if layers is None:
            continue
        if section["by"] == "bleurt":
            yield Fault((*place, "encoder"), "is made here, expected a BLEURT model that is there")
        elif section["layer"] > layers:
            message = f"found {section['layer']}, expected one of its {layers} layers"
            yield Fault((*place, "layer"), message)


def _test_sets(config: Config, zoo: Zoo) -> Iterator[Fault]:
    columns: dict[str, str] = {}  # test set by the paper's column
    for name, entry in config["test_sets"].items():
        place, column = ("test_sets", name), entry.get("paper")
        if column is not None and columns.setdefault(column, name) != name:
            message = f"found '{column}', which test_sets.{columns[column]} has too, expected one test set a column"
            yield Fault((*place, "paper"), message)
        for other in entry["scores"]:
            if other in (*config["metrics"], *_made_or_lexical(config)):
                yield Fault((*place, "scores", other), TAKEN)
        if name == "development":
            yield Fault(place, "is what pruning calls its own set, expected another name")


def _inputs(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for missing references if a metric that is trained here reads them."""
    for section in ("reference", "distillation"):
        trained = config.get(section)
        # The inputs of a checkpoint are known only from its file.
        if trained is None or "checkpoint" in trained:
            continue
        if trained["training"]["kind"] != "regression_metric":
            continue
        reads = f"the metric of {section}.training reads references"
        for name, entry in config["test_sets"].items():
            if not entry["references"]:
                yield Fault(("test_sets", name, "references"), f"found false, but {reads}")
        speed = config["evaluation"].get("speed")
        if speed is not None and "references" not in speed:
            yield Fault(("evaluation", "speed", "references"), f"missing, but {reads}")


def _evaluation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, path in at(config, "evaluation.speed.systems.*"):
        if not path.strip():
            yield Fault(place, "found nothing, expected a file")
    yield from precision_faults(config, "evaluation.precision")


CHECKS = (_encoders, _reference, _pruning, _distilled, _metrics, _test_sets, _inputs, _evaluation)


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for place, found in at(config, *FILES):
        if place[0] == "encoders":
            on_hub = "revision" in config["encoders"][place[1]]
        elif place[-2:-1] == ("models",):
            on_hub = isinstance(found, dict)
        else:
            on_hub = place == ("reference", "checkpoint") and may_be_on_hub(found)
        files = at(found, "*") if isinstance(found, dict) else [((), found)]
        for below, path in files if not on_hub else ():
            yield key_path((*place, *below)), path


def unfit_models(config: Config) -> list[str]:
    """Return a line for each local model folder with code or of the wrong kind, and for each unusable text."""
    checks = (unfit_references, unfit_encoders, unfit_translators, unfit_texts)
    unfit = unfit_folders(local_paths(config), whole=False)
    return [*unfit, *(line for check in checks for line in check(config))]
