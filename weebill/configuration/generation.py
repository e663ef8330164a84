"""Experiments of the kind `generation`: contradictions, local files, cost, unfit models."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import starmap
from pathlib import Path
from typing import Any

from weebill.configuration import generation_measuring as measuring
from weebill.configuration.estimates import Estimate, starts
from weebill.configuration.local_files import faults, unfit_folders
from weebill.configuration.models import width_fault
from weebill.configuration.rates import Rates
from weebill.configuration.resources import GENERATION_JOB_MIB
from weebill.configuration.schedules import warmup_faults
from weebill.configuration.schema import Config, Fault, Place, absent, at
from weebill.corpus.download import is_url
from weebill.corpus.sources import address_faults
from weebill.errors import InputError, key_path
from weebill.experiment import pipelines
from weebill.experiment.known_models import known_model
from weebill.experiment.zoo import Zoo
from weebill.files import read_json
from weebill.generation.data import KEYS
from weebill.generation.sampling import SAMPLED

TASKS = {"bart": "summarization", "gpt2": "language-modelling"}
# Alternative keys of an entry of text, each with the keys that it excludes.
ORIGINS = {
    "path": ("revision", "config", "split"),
    "name": ("sha256",),
    "folder": ("sha256", "revision"),
}
TEXTS = "data.*.train|validation|test.*"
# Copies of the weights in two checkpoints, with Adam's moments, and in the finished model.
TRAINING_COPIES = 8


def _data(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for place, entry in at(config, TEXTS):
        origins = [key for key in ORIGINS if key in entry]
        if len(origins) != 1:
            yield Fault(place, f"expected one of {', '.join(ORIGINS)}")
            continue
        if "name" in entry and "revision" not in entry:
            yield Fault((*place, "revision"), "missing, expected the commit of the data set")
        sha256 = ((*place, "sha256"), entry.get("sha256"))
        yield from starmap(Fault, address_faults((*place, "path"), entry.get("path", ""), *sha256))
        for key in ORIGINS[origins[0]]:
            if key in entry:
                yield Fault((*place, key), f"found beside {origins[0]}, expected none")
        if all(key in entry for key in SAMPLED):
            yield Fault((*place, SAMPLED[1]), f"found beside {SAMPLED[0]}, expected one of both")
    for name, section in config["data"].items():
        for part in ("validation", "test"):
            if not section[part] and not section[f"{part}_share"]:
                message = f"found 0, expected a share, or files of {part}"
                yield Fault(("data", name, f"{part}_share"), message)
        if section["validation_share"] + section["test_share"] >= 1:
            yield Fault(("data", name, "test_share"), "leaves no text to train on, expected less")
        known = KEYS[section["task"]]
        for key in section["fields"]:
            if key not in known:
                message = f"unknown, {section['task']} reads {' and '.join(known)}"
                yield Fault(("data", name, "fields", key), message)


def _models(config: Config, zoo: Zoo) -> Iterator[Fault]:
    for name, model in config["models"].items():
        place: Place = ("models", name)
        for (key, *_), data in at(model, "data", "text.*"):
            yield from absent((*place, key), "data", data, config["data"], "data")
        task = config["data"].get(model["data"], {}).get("task")
        if "prefix" in model and task == "language-modelling":
            yield Fault((*place, "prefix"), f"found for {task}, expected none: it has no articles")
        if model["by"] != "making":
            continue
        yield from width_fault(place, model)
        yield from _training((*place, "training"), model["training"])
        architecture, positions = model["architecture"], model["positions"]
        if task not in (None, TASKS[architecture]):
            found = f"found {architecture}, which does {TASKS[architecture]}"
            yield Fault((*place, "architecture"), f"{found}; its data is for {task}")
        for key in ["max_source", "passage"] + ["max_target"] * (architecture == "bart"):
            if model.get(key, 0) > positions:
                message = f"found {model[key]}, expected at most its {positions} positions"
                yield Fault((*place, key), message)


def _training(place: Place, training: Mapping[str, Any]) -> Iterator[Fault]:
    if ("epochs" in training) == ("updates" in training):
        yield Fault(place, "expected either epochs or updates")
    elif "updates" in training:  # the number of updates in an epoch depends on the text
        yield from warmup_faults(place, training)


def _steps(config: Config, zoo: Zoo) -> Iterator[Fault]:
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


def _pipelines(config: Config, zoo: Zoo) -> Iterator[Fault]:
    models, steps = config["models"], config["steps"]
    for index, pipeline in enumerate(config["pipelines"]):
        model = pipeline["model"]
        yield from absent(("pipelines", index, "model"), "model", model, models, "models")
        layers = models.get(model, {}).get("layers")
        for number, name in enumerate(pipeline["steps"] if model in models else ()):
            place = ("pipelines", index, "steps", number)
            yield from absent(place, "step", name, steps, "steps")
            step = steps.get(name, {})
            method, wanted = step.get("method"), step.get("layers")
            if method == "post-training" and number + 1 < len(pipeline["steps"]):
                yield Fault(place, f"'{name}' makes int8 weights, expected it to be the last step")
            if method == "distil" and layers is not None:
                listed = isinstance(wanted, list)
                if (wanted[-1] + 1 if listed else wanted) > layers:
                    message = f"'{name}' takes layers {wanted}, but the model has {layers} by then"
                    yield Fault(place, message)
                layers = len(wanted) if listed else wanted


def _evaluation(config: Config, zoo: Zoo) -> Iterator[Fault]:
    tasks = set()
    for name in pipelines.piped_models(config):
        model = config["models"].get(name, {})
        if model.get("data") not in config["data"]:
            continue
        task = config["data"][model["data"]]["task"]
        tasks.add(task)
        positions = _positions(model)
        for key, tokens in pipelines.measured_lengths(config, name).items():
            if positions is not None and tokens > positions:
                together = "new_tokens" in key and task == "language-modelling"
                found = f"found {tokens}{' with those given' if together else ''}"
                message = f"{found}, expected at most the {positions} positions of '{name}'"
                yield Fault(tuple(key.split(".")), message)
    window, stride = (config["evaluation"]["perplexity"][key] for key in ("window", "stride"))
    if "language-modelling" in tasks and stride > window:
        message = f"found {stride}, expected at most the window's {window}"
        yield Fault(("evaluation", "perplexity", "stride"), message)


CHECKS = (_data, _models, _steps, _pipelines, _evaluation)


def _positions(model: Mapping[str, Any]) -> int | None:
    """Return the number of positions of a model; None if they are relative or not known yet."""
    if model["by"] != "hugging_face":
        return model["positions"]
    described = None
    with suppress(InputError):  # the model is on the hub, or the fault is reported elsewhere
        described = read_json(Path(model["hugging_face"]) / "config.json")
    if not isinstance(described, dict):
        return None
    key = "n_positions" if described.get("model_type") == "gpt2" else "max_position_embeddings"
    return described.get(key)


def local_paths(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the key path and the path of every local file or folder that the experiment reads."""
    for place, path in at(config, f"{TEXTS}.path|folder", "models.*.hugging_face", "local_dir"):
        if place[0] == "models":
            elsewhere = "revision" in config["models"][place[1]]
        else:
            elsewhere = place[0] == "data" and is_url(path)
        if not elsewhere:
            yield key_path(place), path


def unfit_models(config: Config) -> list[str]:
    """Return one line for each local model folder that cannot be read, or whose vocabulary cannot be pruned."""
    if found := [*unfit_folders(local_paths(config), whole=True)]:
        return found
    for name in pipelines.piped_models(config):
        model = config["models"][name]
        is_local = "hugging_face" in model and "revision" not in model
        if is_local and pipelines.vocabulary_pruned(config, name):
            from weebill.generation.prunable_vocabulary import check_folder  # slow to import

            folder = Path(model["hugging_face"])
            found += faults(f"models.{name}.hugging_face: {folder}", check_folder, folder)
    return found


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of an experiment from the start."""
    rates = Rates.of(config["hardware"])
    unknown_parts, hours, disk, timed, measured = [], {}, {}, {}, 0.0
    for name in pipelines.piped_models(config):
        model, variants = config["models"][name], pipelines.variants_of(config, name)
        known = None if model["by"] == "making" else known_model(model["hugging_face"])
        if model["by"] != "making" and known is None:
            unknown_parts.append(f"models.{name}: a finished model, whose size is not known")
            continue
        weights = weights_of(model) if known is None else float(known.weights)
        disk[f"models of {name}"] = 4.0 * weights * (len(variants) + TRAINING_COPIES)
        # Settings, passes through the model per text, longest text, and texts of each training.  A backward pass
        # counts as two; a teacher in the loss adds a forward pass.
        trainings = []
        if known is None:
            longest = model.get("passage", model["positions"])
            texts = model.get("text", [model["data"]])
            trainings.append((model["training"], 3, longest, texts))
        for variant in variants:
            step = config["steps"][variant.rsplit("/", 1)[1]]
            if "training" in step:
                passes = 4 if "loss" in step else 3
                trainings.append((step["training"], passes, model["max_source"], [model["data"]]))
        for training, passes, longest, texts in trainings:
            positions = training["batch_size"] * longest
            if "updates" in training:
                tokens = training["updates"] * training["accumulate"] * positions
            else:
                tokens = training["epochs"] * measuring.training_tokens(config, texts)
            rate = rates.training(training["precision"], weights, positions)
            operations = 2 * passes * tokens * weights
            hours[name] = hours.get(name, 0.0) + operations / rate / 3600
        measured += measuring.quality(config, name, weights, rates) / 3600
        timed[name] = measuring.timing(config, name, weights) / 3600
    chain = max(hours.values(), default=0.0) + max(timed.values(), default=0.0)
    others = {
        "encoding": measuring.encoding(config) / 3600,
        **starts(measuring.jobs(config)),
        "measuring": sum(timed.values()),
    }
    return Estimate(
        disk,
        rates.device,
        {
            name: value
            for name, value in (hours | {"quality of variants": measured}).items()
            if value
        },
        chain,
        other_hours={name: value for name, value in others.items() if value},
        unknown=(*unknown_parts, *measuring.missing(config)),
        memory={"distil_layers": GENERATION_JOB_MIB},
    )


def weights_of(model: Mapping[str, Any]) -> float:
    """Return the number of weights of a model that is made here, before any step."""
    width, decoder_only = model["width"], model["architecture"] == "gpt2"
    attention, feed_forward = 4 * width**2, 2 * width * model["feed_forward"]
    # One layer of the encoder and one of the decoder, which also attends to the encoder.
    blocks = (1 if decoder_only else 3) * attention + (1 if decoder_only else 2) * feed_forward
    return float(model["vocabulary"] * width + model["layers"] * blocks)
