"""Time of a metric experiment besides trainings: pruning, scores, timing, encoding, starts of jobs.

A time tends to be too large: only a part of repeated texts counts as known to the scorer's cache.
"""

from collections.abc import Mapping

from weebill.configuration.cost import PIECE_BYTES, SIDE_BYTES, plain_bytes
from weebill.configuration.rates import Rates
from weebill.configuration.schema import Config
from weebill.experiment.metrics import (
    ENSEMBLE,
    REFERENCE,
    damaged_metrics,
    distilled_metrics,
    our_metrics,
    pruned_metrics,
    shown_metrics,
)

SIDES = 3  # texts of a segment: source, translation, reference
ENCODED = 0.5  # share of a judged table that is encoded, because all systems have the same sources and references
DAMAGES = 3  # kinds of damage to a translation
SHARES = 2.5  # sum of the parts of the segments that are timed
UNCACHED, CACHED = 2, 2  # ways of the reference scorer to score the reference
TOKENIZED = 1_000_000  # bytes a second and thread that a tokenizer encodes; measured: 1,200,000
FEW = 3  # files that a message names
REPORT_JOBS = 4  # tokenizer, tables, figures, pages


def passed(
    config: Config, layers: Mapping[str, float], reference: float | None
) -> dict[str, float]:
    """Return the weights that each piece passes, by metric; those that are not known are left out.

    layers: weights in the layers of each encoder.  reference: the same of the reference, whose pruned copies count as
    whole.
    """
    found = {name: layers.get(encoder) for name, encoder in distilled_metrics(config).items()}
    found |= {name: layers.get(one["encoder"]) for name, one in config["metrics"].items()}
    known = {name: weights for name, weights in found.items() if weights is not None}
    if reference is None:
        return known
    whole = dict.fromkeys([REFERENCE, *pruned_metrics(config)], reference)
    members = 1 if "checkpoint" in config["reference"] else config["reference"]["members"]
    return known | whole | {ENSEMBLE: members * reference}


def judged_sets(config: Config) -> dict[str, Config]:
    """Return the entries of all judged sets, by name, without damaged ones."""
    development = {"development": config["pruning"]["development"]} if "pruning" in config else {}
    return {**config["test_sets"], **development}


def scoring(config: Config, weights: Mapping[str, float]) -> float:
    """Return the operations that score all judged sets, and damaged translations of the test sets."""
    robustness = config["evaluation"].get("robustness")
    found = 0.0
    for name, entry in judged_sets(config).items():
        text = ENCODED * plain_bytes([entry["table"]])
        found += text * sum(weights.get(metric, 0.0) for metric in shown_metrics(config, name))
        if robustness and name in config["test_sets"]:
            drawn = min(text, robustness["segments"] * SIDES * SIDE_BYTES)
            others = damaged_metrics(config, name)
            found += DAMAGES * drawn * sum(weights.get(metric, 0.0) for metric in others)
    return 2 * found / PIECE_BYTES


def timing(config: Config, weights: Mapping[str, float]) -> float:
    """Return the seconds of one core that time the metrics, by systems, segments and candidates."""
    speed = config["evaluation"].get("speed")
    if speed is None:
        return 0.0
    text, segments = plain_bytes([speed["sources"]]), speed.get("segments")
    if segments is not None:
        text = segments * SIDE_BYTES
    whole = weights.get(REFERENCE, 0.0)
    every = sum(weights.get(name, 0.0) for name in our_metrics(config) if name != ENSEMBLE)
    counts = range(1, len(speed["systems"]) + 1)
    # A cache keeps the source and the reference of all systems' translations.
    alone, cached = (sum(per * n + kept for n in counts) for per, kept in ((SIDES, 0), (1, 2)))
    passes = whole * (UNCACHED * alone + CACHED * cached) + every * cached
    passes += whole * SHARES * SIDES * (UNCACHED + CACHED + 1)
    chosen = speed["candidate_sources"] * sum(count + 1 for count in speed["candidates"])
    pieces = (passes * text + every * chosen * SIDE_BYTES) / PIECE_BYTES
    return (speed["rounds"] + 1) * 2 * pieces / _core().training("float32", whole, pieces)


def pruning(config: Config, reference: float) -> float:
    """Return the seconds of one core that compute the gradients by which the pruned metrics are chosen."""
    if "pruning" not in config:
        return 0.0
    pieces = config["pruning"]["segments"] * SIDES * SIDE_BYTES / PIECE_BYTES
    operations = 6 * pieces * reference * len(pruned_metrics(config))
    return operations / _core().training("float32", reference, pieces)


def encoding(config: Config) -> float:
    """Return the seconds of one thread that encode the text of the encoders that are made here, once for each."""
    made = sum(one["by"] != "hugging_face" for one in config["encoders"].values())
    text = min(plain_bytes(config.get("texts", ())), config["sentences"] * SIDE_BYTES)
    return made * text / TOKENIZED


def jobs(config: Config) -> int:
    """Return the approximate number of jobs of an experiment."""
    tests, reference = config["test_sets"], config["reference"]
    scored = sum(len(shown_metrics(config, name)) for name in judged_sets(config))
    if "robustness" in config["evaluation"]:
        scored += sum(2 + len(damaged_metrics(config, name)) for name in tests)
    pruned, distilled = pruned_metrics(config), distilled_metrics(config)
    translated, section = 2, config.get("distillation", {"pairs": {}})
    for pairs in section["pairs"].values():
        translated += 3  # selected, joined, scored
        for way in pairs["translations"].values():
            steps = len(way.get("models", [None]))
            translated += steps * (1 + section["translation"]["shards"]) + (way["by"] == "training")
    return sum(
        (
            REPORT_JOBS + scored + len(judged_sets(config)) + ("speed" in config["evaluation"]),
            len(config["encoders"]) + (1 if "checkpoint" in reference else reference["members"]),
            2 * (len(pruned) + len(distilled)) + 1,  # made, and its size measured
            translated if distilled else 0,
        )
    )


def missing(config: Config) -> list[str]:
    """Return lines about text that is not here yet, so that it has no time; none if all is here."""
    judgements = [one["table"] for one in config["reference"].get("judgements", ())]
    speed = config["evaluation"].get("speed", {})
    reads = {
        "training of the reference": judgements,
        "scores of judged sets": [one["table"] for one in judged_sets(config).values()],
        "encoding of the encoders' text": config.get("texts", ()),
        "timing of metrics": [] if "segments" in speed or not speed else [speed["sources"]],
    }
    absent = {
        what: [path for path in dict.fromkeys(paths) if not plain_bytes([path])]
        for what, paths in reads.items()
    }
    return [f"{what}: not here yet: {_few(paths)}" for what, paths in absent.items() if paths]


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - FEW} more" if len(paths) > FEW else ""
    return ", ".join(paths[:FEW]) + more


def _core() -> Rates:
    return Rates.of({"accelerator": "cpu", "threads": 1})  # even if the experiment has a GPU
