"""Estimated cost of experiments of the kind `metric`: disk, and hours of trainings."""

from weebill.configuration.cost import PIECE_BYTES, total_bytes
from weebill.configuration.estimates import Estimate
from weebill.configuration.rates import Rates
from weebill.configuration.schema import Config
from weebill.experiment.known_models import known_model
from weebill.experiment.metrics import distilled_metrics, pruned_metrics
from weebill.experiment.zoo import Zoo

BATCH_PIECES = 2_000  # approximate size of unbabel-comet's batches
EXPANSION = 3  # size of unpacked text relative to its file


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of an experiment from the start; unpacking is assumed to triple the size of text."""
    reference = config["reference"]
    rates = Rates.of(config["hardware"])
    unknown, hours, disk, layers, weights = [], {}, {}, {}, {}
    pruned = 0
    for name, one in config["encoders"].items():
        if one["by"] == "hugging_face":
            known = known_model(one["hugging_face"])
            if known is None:
                unknown.append(f"encoders.{name}: a finished model, whose size is not known")
            else:
                layers[name], weights[name] = known.layer_weights, known.weights
                disk[f"encoder {name}"] = 4 * weights[name]
            continue
        width = one["width"]
        layers[name] = one["layers"] * (4 * width**2 + 2 * width * one["intermediate"])
        weights[name] = config["vocabulary"] * width + layers[name]
        operations = 6 * one["updates"] * one["batch_pieces"] * weights[name]
        rate = rates.training(one["precision"], weights[name], one["batch_pieces"])
        hours[f"encoder {name}"] = operations / rate / 3600
        disk[f"encoder {name}"] = 4 * 4 * weights[name]
    chain = max(hours.values(), default=0.0)  # the longest chain: one encoder, then one member
    if "checkpoint" in reference:
        whole = known_model(reference["checkpoint"])
        if whole is None:
            unknown.append("reference.checkpoint: how large it is is not known")
        else:
            disk["reference"] = 4 * whole.weights
            pruned = 4 * whole.weights * len(pruned_metrics(config))
    elif (name := reference["encoder"]) in weights:
        text = EXPANSION * total_bytes(entry["table"] for entry in reference["judgements"])
        pieces, members = reference["training"]["epochs"] * text / PIECE_BYTES, reference["members"]
        rate = rates.training("float32", layers[name], BATCH_PIECES)
        each = 6 * pieces * layers[name] / rate / 3600
        if text:
            hours["reference models"] = members * each
            chain += each
        else:
            unknown.append("reference.judgements: not here yet, so their training has no time")
        # Two checkpoints, each with Adam's moments.
        disk["reference models"] = 4 * members * (4 * weights[name])
        pruned = 4 * weights[name] * len(pruned_metrics(config))
    if pruned:
        disk["pruned models"] = pruned
    if "distillation" in config:
        unknown.append("distillation: how long its pairs are translated and learnt is not known")
        for metric, name in distilled_metrics(config).items():
            if name in weights:
                disk[f"{metric} model"] = 4 * 4 * weights[name]
    if reference["members"] == 1:
        chain = sum(hours.values())
    return Estimate(disk, rates.device, hours, chain, unknown=tuple(unknown))
