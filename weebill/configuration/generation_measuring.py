"""Time of a generation experiment besides trainings: quality and timing of variants, encoding, starts of jobs.

All variants of a model count as whole ones, though most are smaller.
"""

from collections.abc import Sequence

from weebill.configuration.cost import PIECE_BYTES, plain_bytes
from weebill.configuration.rates import Rates
from weebill.configuration.schema import Config
from weebill.experiment.pipelines import piped_models, task_of, variants_of

ARTICLE_BYTES = 3300  # an article with its summary, in BBC news
CALLS = 0.0015  # seconds of a thread that PyTorch's calls take for each new token
ENTRANT = 3.0  # start of a process for timing
ENCODED = 1_200_000  # bytes a second that a thread encodes as byte-level BPE
WINDOWS = 8  # windows in a batch
REPORT_JOBS = 4  # tables, figures, pages


def text_bytes(section: Config, part: str) -> float | None:
    """Return the bytes of plain text in a part of an entry of `data`; None if it is not known.

    What an entry leaves out of its files by `take` counts too.
    """
    entries = section[part]
    if not entries and part != "train":
        whole = text_bytes(section, "train")
        return None if whole is None else section[f"{part}_share"] * whole
    found = [entry.get("share", 1.0) * plain_bytes([entry.get("path", "")]) for entry in entries]
    return sum(found) if all(found) else None


def training_tokens(config: Config, names: Sequence[str]) -> float:
    """Return the tokens of all training text of some entries of `data`; 0 for those whose size is not known."""
    return sum(text_bytes(config["data"][name], "train") or 0.0 for name in names) / PIECE_BYTES


def quality(config: Config, model: str, weights: float, rates: Rates) -> float:
    """Return the seconds of one device that summarize the test text, or compute its perplexity, with all variants."""
    settings, entry = config["evaluation"], config["models"][model]
    text = text_bytes(config["data"][entry["data"]], "test") or 0.0
    if task_of(config, model) == "summarization":
        beam, longest = settings["search"]["beam"], settings["search"]["max_tokens"]
        operations = 2 * weights * (entry["max_source"] + beam * longest)
        each = operations / rates.search(weights, beam) + CALLS * longest
        seconds = text / ARTICLE_BYTES * each
    else:
        window, stride = (settings["perplexity"][key] for key in ("window", "stride"))
        operations = 2 * weights * text / PIECE_BYTES * window / stride
        seconds = operations / rates.training("float32", weights, WINDOWS * window)
    return seconds * len(variants_of(config, model))


def timing(config: Config, model: str, weights: float) -> float:
    """Return the seconds of one core that time all variants of a model."""
    speed = config["evaluation"]["speed"]
    core = Rates.of({"accelerator": "cpu", "threads": 1})  # even if the experiment has a GPU
    each = 2 * weights * (speed["given"] + speed["new_tokens"]) / core.search(weights)
    each += CALLS * speed["new_tokens"]
    # An example warms a variant up.
    count = 1 + speed["rounds"] * speed["examples"]
    return len(variants_of(config, model)) * (ENTRANT + count * each)


def encoding(config: Config) -> float:
    """Return the seconds of one thread that encode the training text, once for each training."""
    found = 0.0
    for model in piped_models(config):
        entry = config["models"][model]
        steps = (variant.rsplit("/", 1)[1] for variant in variants_of(config, model))
        trainings = {entry["data"]: sum("training" in config["steps"][step] for step in steps)}
        if entry["by"] == "making":
            for name in entry.get("text", [entry["data"]]):
                trainings[name] = trainings.get(name, 0) + 1
        for name, count in trainings.items():
            found += count * PIECE_BYTES * training_tokens(config, [name])
    return found / ENCODED


def jobs(config: Config) -> int:
    """Return the approximate number of jobs of an experiment."""
    found = REPORT_JOBS + len(config["data"])
    for model in piped_models(config):
        summarizes = task_of(config, model) == "summarization"
        # Step, quality and size of each variant; the model, its timing, and the articles' beginnings.
        found += (3 + summarizes) * len(variants_of(config, model)) + 2 + summarizes
    return found


def missing(config: Config) -> list[str]:
    """Return a line for each text whose size is not known."""
    models = [config["models"][model] for model in piped_models(config)]
    names = dict.fromkeys(name for one in models for name in [one["data"], *one.get("text", [])])
    told = "its size is not known; encoding it, epochs of it and measuring on it have no time"
    parts = {
        name: [text_bytes(config["data"][name], part) for part in ("train", "test")]
        for name in names
    }
    return [f"data.{name}: {told}" for name, found in parts.items() if None in found]
