"""Estimate of the time and disk space of an experiment of the kind `metric`."""

from collections.abc import Mapping

from weebill.configuration.cost import PIECE_BYTES, RATES
from weebill.configuration.estimates import Estimate
from weebill.configuration.metric import Config
from weebill.configuration.sizes import total_bytes
from weebill.experiment.metrics import pruned_metrics
from weebill.experiment.zoo import Zoo

EXPANSION = 3  # size of unpacked text relative to its file


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of an experiment from the start; unpacking is assumed to triple the size of text."""
    hardware, reference = config["hardware"], config["reference"]
    accelerator = hardware["accelerator"]
    rates = {
        name: rate * (hardware["threads"] if accelerator == "cpu" else 1)
        for name, rate in RATES[accelerator].items()
    }
    unknown, hours, disk = [], {}, {}

    def trained(name: str, judgements: float, epochs: int) -> float:
        """Return the hours of training an encoder by regression; judgements: bytes of text."""
        pieces = epochs * judgements / PIECE_BYTES
        return 6 * pieces * _layers_of(config["encoders"][name]) / rates["float32"] / 3600

    made = {name: one for name, one in config["encoders"].items() if one["by"] == "pretraining"}
    for name, one in made.items():
        operations = (
            6 * one["updates"] * one["batch_pieces"] * _weights_of(one, config["vocabulary"])
        )
        hours[f"encoder {name}"] = operations / rates[one["precision"]] / 3600
        disk[f"encoder {name}"] = 4 * 4 * _weights_of(one, config["vocabulary"])
    unknown += [
        f"encoders.{name}: of the hub, how large it is is not known"
        for name, one in config["encoders"].items()
        if one["by"] == "hugging_face"
    ]
    if "checkpoint" in reference:
        unknown.append("reference.checkpoint: how large it is is not known")
    elif reference["encoder"] in made:
        text = EXPANSION * total_bytes(entry["table"] for entry in reference["judgements"])
        each = trained(reference["encoder"], text, reference["training"]["epochs"])
        hours["reference models"] = reference["members"] * each
        size = 4 * _weights_of(made[reference["encoder"]], config["vocabulary"])
        # Two checkpoints, each with Adam's moments.
        disk["reference models"] = 4 * reference["members"] * size
        disk["pruned models"] = size * len(pruned_metrics(config))
    if "distillation" in config:
        unknown.append("distillation: how long its pairs are translated and learnt is not known")
    return Estimate(
        disk=disk,
        fetched=0,
        device=accelerator,
        hours=hours,
        text_hours=0,
        chain=sum(hours.values()) if reference.get("members", 1) == 1 else _chain(hours, reference),
        unknown=tuple(unknown),
    )


def _chain(hours: Mapping[str, float], reference: Config) -> float:
    """Return the hours of the longest chain: one encoder, then one member."""
    encoders = max(
        (time for name, time in hours.items() if name.startswith("encoder")), default=0.0
    )
    return encoders + hours.get("reference models", 0.0) / reference["members"]


def _layers_of(encoder: Config) -> float:
    """Return the weights in an encoder's layers; 0 for an encoder from the hub, whose weights are not known."""
    if encoder["by"] == "hugging_face":
        return 0.0
    width = encoder["width"]
    return encoder["layers"] * (4 * width**2 + 2 * width * encoder["intermediate"])


def _weights_of(encoder: Config, vocabulary: int) -> float:
    return vocabulary * encoder["width"] + _layers_of(encoder)
