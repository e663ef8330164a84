"""Estimated cost of experiments of the kind `metric`: disk, memory, and hours of trainings and measurements."""

from weebill.configuration import metric_measuring as measuring
from weebill.configuration.cost import PIECE_BYTES, plain_bytes
from weebill.configuration.estimates import Estimate, starts
from weebill.configuration.rates import Rates
from weebill.configuration.resources import METRIC_JOB_MIB, pretraining_memory, vocabulary_memory
from weebill.configuration.schema import Config
from weebill.experiment.known_models import known_model
from weebill.experiment.metrics import distilled_metrics, pruned_metrics
from weebill.experiment.zoo import Zoo

BATCH_PIECES = 2_000  # approximate size of unbabel-comet's batches


def estimate(config: Config, zoo: Zoo) -> Estimate:
    """Estimate the cost of an experiment from the start."""
    reference = config["reference"]
    rates = Rates.of(config["hardware"])
    unknown, hours, disk, layers, weights = [], {}, {}, {}, {}
    whole, size = None, 0.0  # weights of the reference: in the layers, and all
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
        known = known_model(reference["checkpoint"])
        if known is None:
            unknown.append("reference.checkpoint: how large it is is not known")
        else:
            whole, size = known.layer_weights, known.weights
            disk["reference"] = 4 * size
    elif (name := reference["encoder"]) in weights:
        whole, size = layers[name], weights[name]
        text = plain_bytes(entry["table"] for entry in reference["judgements"])
        pieces, members = reference["training"]["epochs"] * text / PIECE_BYTES, reference["members"]
        rate = rates.training("float32", whole, BATCH_PIECES)
        each = 6 * pieces * whole / rate / 3600
        if text:
            hours["reference models"] = members * each
            chain += each
        # Two checkpoints, each with Adam's moments.
        disk["reference models"] = 4 * members * (4 * size)
    if size and (pruned := pruned_metrics(config)):
        disk["pruned models"] = 4 * size * len(pruned)
    if "distillation" in config:
        told = "how long its pairs are translated, scored and learnt is not known"
        unknown.append(f"distillation: {told}")
        for metric, name in distilled_metrics(config).items():
            if name in weights:
                disk[f"{metric} model"] = 4 * 4 * weights[name]
    passed = measuring.passed(config, layers, whole)
    if scored := measuring.scoring(config, passed):
        rate = rates.training("float32", max(passed.values()), BATCH_PIECES)
        hours["scores of judged sets"] = scored / rate / 3600
    if reference["members"] == 1:
        chain = sum(hours.values())
    else:
        chain += hours.get("scores of judged sets", 0.0) / len(measuring.judged_sets(config))
    timing = measuring.timing(config, passed) / 3600
    texts = config.get("texts", ())
    others = {
        "pruning": measuring.pruning(config, whole or 0.0) / 3600,
        "encoding": measuring.encoding(config) / 3600,
        **starts(measuring.jobs(config)),
        "measuring": timing,
    }
    first = "import_reference" if "checkpoint" in reference else "train_reference"
    memory: dict[str, float] = {first: METRIC_JOB_MIB}
    if texts:
        memory["make_tokenizer"] = vocabulary_memory(texts)
        memory["pretrain_encoder"] = pretraining_memory(texts, config["sentences"])
    return Estimate(
        disk,
        rates.device,
        hours,
        chain + timing,
        other_hours={name: value for name, value in others.items() if value},
        unknown=(*unknown, *measuring.missing(config)),
        memory=memory,
    )
