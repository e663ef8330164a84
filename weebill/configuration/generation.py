"""Experiments of the kind `generation`: contradictions, local files, cost, unfit models."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weebill.configuration.cost import RATES
from weebill.configuration.estimates import Estimate
from weebill.configuration.schedules import warmup_faults
from weebill.configuration.schema import Fault, contradicted, unknown
from weebill.corpus.download import is_url
from weebill.errors import InputError, Key, key_path
from weebill.experiment.pipelines import (
    measured_lengths,
    piped_models,
    variants_of,
    vocabulary_pruned,
)
from weebill.experiment.zoo import Zoo
from weebill.files import read_json
from weebill.generation.settings import TrainingSettings
from weebill.settings import defaults

Config = dict[str, Any]
TASKS = {"bart": "summarization", "gpt2": "language-modelling"}
ORIGINS = ("path", "name", "folder")  # an entry of text has one of these keys
KEYS = {"summarization": ("article", "summary"), "language-modelling": ("text",)}
# Copies of the weights in two checkpoints, with Adam's moments, and in the finished model.
TRAINING_COPIES = 8


def contradictions(config: Config, zoo: Zoo, broken: set[str]) -> list[Fault]:
    """Return every contradiction; checks that read `broken` sections are skipped."""
    checks = [
        (("data",), _data),
        (("models", "data"), _models),
        (("steps",), _steps),
        (("pipelines", "models", "steps"), _pipelines),
        (("evaluation", "models", "data", "pipelines"), _evaluation),
    ]
    return contradicted(checks, broken, config)


def _data(config: Config) -> Iterator[Fault]:
    for entry, place in _entries(config):
        origins = [key for key in ORIGINS if key in entry]
        if len(origins) != 1:
            yield Fault(place, f"expected one of {', '.join(ORIGINS)}")
        elif "name" in entry and "revision" not in entry:
            yield Fault((*place, "revision"), "missing, expected the commit of the data set")
        elif "path" in entry and is_url(entry["path"]) and "sha256" not in entry:
            yield Fault((*place, "sha256"), "missing, expected the checksum of what the URL holds")
        surplus = {
            "path": ("revision", "config", "split"),
            "name": ("sha256",),
            "folder": ("sha256", "revision"),
        }
        for key in surplus[origins[0]] if len(origins) == 1 else ():
            if key in entry:
                yield Fault((*place, key), f"found beside {origins[0]}, expected none")
    for name, section in config["data"].items():
        for part in ("validation", "test"):
            if not section[part] and not section[f"{part}_share"]:
                yield Fault(
                    ("data", name, f"{part}_share"),
                    f"found 0, expected a share, or files of {part}",
                )
        if section["validation_share"] + section["test_share"] >= 1:
            yield Fault(("data", name, "test_share"), "leaves no text to train on, expected less")
        for key in section["fields"]:
            if key not in KEYS[section["task"]]:
                yield Fault(
                    ("data", name, "fields", key),
                    f"unknown, {section['task']} reads {' and '.join(KEYS[section['task']])}",
                )


def _models(config: Config) -> Iterator[Fault]:
    for name, model in config["models"].items():
        place: tuple[Key, ...] = ("models", name)
        for key, data in [
            ("data", model["data"]),
            *(("text", one) for one in model.get("text", [])),
        ]:
            if data not in config["data"]:
                yield Fault((*place, key), unknown("data", data, config["data"], "data"))
        if model["by"] != "making":
            continue
        if model["width"] % model["heads"]:
            yield Fault(
                (*place, "width"),
                f"found {model['width']}, expected a multiple of its {model['heads']} heads",
            )
        yield from _training((*place, "training"), model["training"])
        task = config["data"].get(model["data"], {}).get("task")
        if task not in (None, TASKS[model["architecture"]]):
            yield Fault(
                (*place, "architecture"),
                f"found {model['architecture']}, which does {TASKS[model['architecture']]}; its data is "
                f"for {task}",
            )
        lengths = ["max_source", "passage"] + ["max_target"] * (model["architecture"] == "bart")
        for key in lengths:
            if model.get(key, 0) > model["positions"]:
                yield Fault(
                    (*place, key),
                    f"found {model[key]}, expected at most its {model['positions']} positions",
                )


def _training(place: tuple[Key, ...], training: Mapping[str, Any]) -> Iterator[Fault]:
    if ("epochs" in training) == ("updates" in training):
        yield Fault(place, "expected either epochs or updates")
    elif "updates" in training:  # the updates of epochs are known only with the text
        yield from warmup_faults(place, training, defaults(TrainingSettings))


def _steps(config: Config) -> Iterator[Fault]:
    for name, step in config["steps"].items():
        if name == "model":
            yield Fault(("steps", name), "is the name of the folders of models, expected another")
        if "training" in step:
            yield from _training(("steps", name, "training"), step["training"])
        layers = step.get("layers")
        if isinstance(layers, list) and layers != sorted(layers):
            yield Fault(("steps", name, "layers"), f"found {layers}, expected them to ascend")
        if step["method"] == "movement" and not step["heads"] and not step["neurons"]:
            yield Fault(("steps", name), "removes neither heads nor neurons")


def _pipelines(config: Config) -> Iterator[Fault]:
    for index, pipeline in enumerate(config["pipelines"]):
        place: tuple[Key, ...] = ("pipelines", index)
        if pipeline["model"] not in config["models"]:
            told = unknown("model", pipeline["model"], config["models"], "models")
            yield Fault((*place, "model"), told)
            continue
        layers = config["models"][pipeline["model"]].get("layers")
        for number, name in enumerate(pipeline["steps"]):
            here = (*place, "steps", number)
            if name not in config["steps"]:
                yield Fault(here, unknown("step", name, config["steps"], "steps"))
                continue
            step = config["steps"][name]
            if step["method"] == "post-training" and number + 1 < len(pipeline["steps"]):
                yield Fault(here, f"'{name}' makes int8 weights, expected it to be the last step")
            if step["method"] == "distil" and layers is not None:
                wanted = step["layers"]
                if (wanted > layers) if isinstance(wanted, int) else (wanted[-1] >= layers):
                    yield Fault(
                        here, f"'{name}' takes layers {wanted}, but the model has {layers} by then"
                    )
                layers = wanted if isinstance(wanted, int) else len(wanted)


def _evaluation(config: Config) -> Iterator[Fault]:
    window, stride = (config["evaluation"]["perplexity"][key] for key in ("window", "stride"))
    modelled = False
    for name in piped_models(config):
        model = config["models"].get(name, {})
        data = config["data"].get(model.get("data"))
        if data is None:
            continue
        positions = _positions(model)
        modelled = modelled or data["task"] == "language-modelling"
        for key, tokens in measured_lengths(config, name).items():
            if positions is not None and tokens > positions:
                together = "new_tokens" in key and data["task"] == "language-modelling"
                given = " with those given" if together else ""
                yield Fault(
                    tuple(key.split(".")),
                    f"found {tokens}{given}, expected at most the {positions} positions of '{name}'",
                )
    if modelled and stride > window:
        yield Fault(
            ("evaluation", "perplexity", "stride"),
            f"found {stride}, expected at most the window's {window}",
        )


def _positions(model: Mapping[str, Any]) -> int | None:
    """Return the number of positions of a model; None if they are relative or not known yet."""
    if model.get("by") != "hugging_face":
        return model.get("positions")
    try:
        described = read_json(Path(model["hugging_face"]) / "config.json")
    except InputError:  # on the hub, or reported elsewhere
        return None
    if not isinstance(described, dict):
        return None
    key = "n_positions" if described.get("model_type") == "gpt2" else "max_position_embeddings"
    return described.get(key)


def _entries(config: Config) -> Iterator[tuple[Mapping[str, Any], tuple[Key, ...]]]:
    """Yield every entry of text and its place."""
    for name, section in config["data"].items():
        for part in ("train", "validation", "test"):
            for index, entry in enumerate(section[part]):
                yield entry, ("data", name, part, index)


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for entry, place in _entries(config):
        for key in ("path", "folder"):
            if key in entry and not is_url(entry[key]):
                yield key_path((*place, key)), entry[key]
    for name, model in config["models"].items():
        if model["by"] == "hugging_face" and "revision" not in model:
            yield f"models.{name}.hugging_face", model["hugging_face"]
    if "local_dir" in config:
        yield "local_dir", config["local_dir"]


def unfit_models(config: Config) -> list[str]:
    """Return one line for each local model folder with a vocabulary that a pipeline prunes but cannot prune."""
    found = []
    for name in piped_models(config):
        model = config["models"][name]
        if "hugging_face" not in model or "revision" in model:
            continue
        folder = Path(model["hugging_face"])
        if vocabulary_pruned(config, name):
            from weebill.generation.prunable_vocabulary import check_folder  # slow to import

            try:
                check_folder(folder)
            except InputError as error:
                found.append(f"models.{name}.hugging_face: {folder}: {error}")
    return found


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of an experiment from the start, of models made here and of trainings with `updates`."""
    hardware = config["hardware"]
    accelerator = hardware["accelerator"]
    threads = hardware["threads"] if accelerator == "cpu" else 1
    unknown_parts, hours, disk = [], {}, {}

    def trained(model: Config, training: Config, passes: int, longest: int) -> float:
        """Return the hours of a training.

        passes: passes through the model for each text; a backward pass counts as two.
        longest: tokens of the longest text.
        """
        tokens = training["batch_size"] * training["accumulate"] * longest
        rate = RATES[accelerator]["float32" if training["precision"] == "float32" else "bfloat16"]
        operations = 2 * passes * training["updates"] * tokens * weights_of(model)
        return operations / (threads * rate) / 3600

    for name in piped_models(config):
        model = config["models"][name]
        count = len(variants_of(config, name))
        if model["by"] != "making":
            unknown_parts.append(f"models.{name}: of the hub, how large it is is not known")
            continue
        disk[f"models of {name}"] = 4.0 * weights_of(model) * (count + TRAINING_COPIES)
        longest = model.get("passage", model["positions"])
        parts = [(f"models.{name}.training", model["training"], 3, longest)]
        for variant in variants_of(config, name):
            step = config["steps"][variant.rsplit("/", 1)[1]]
            if "training" in step:
                passes = 4 if "loss" in step else 3  # the teacher of a loss has a forward pass too
                told = f"{variant}: its training"
                parts.append((told, step["training"], passes, model["max_source"]))
        for told, training, passes, longest in parts:
            if "updates" in training:
                hours[name] = hours.get(name, 0.0) + trained(model, training, passes, longest)
            else:
                unknown_parts.append(f"{told} counts epochs of text whose size is not known")
    return Estimate(
        disk=disk,
        fetched=0,
        device=accelerator,
        hours=hours,
        text_hours=0,
        chain=max(hours.values(), default=0.0),
        unknown=tuple(unknown_parts),
    )


def weights_of(model: Mapping[str, Any]) -> float:
    """Return the number of weights of a model that is made here, before any step."""
    width = model["width"]
    attention, feed_forward = 4 * width**2, 2 * width * model["feed_forward"]
    blocks = 3 * attention + 2 * feed_forward  # one layer of the encoder and one of the decoder
    if model["architecture"] == "gpt2":
        blocks = attention + feed_forward
    return float(model["vocabulary"] * width + model["layers"] * blocks)
