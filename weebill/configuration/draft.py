"""First configuration for a user's text: models and training lengths that fit the text, the machine and the hours."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

from weebill.configuration.checking import check, estimate
from weebill.configuration.draft_size import Size, pieces, size_of, together
from weebill.configuration.resources import training_memory
from weebill.configuration.schema import Config
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.language_codes import unicode_scripts
from weebill.errors import InputError, nearest
from weebill.experiment.zoo import MODELS_NAME, Zoo
from weebill.files import GIB, MIB

PIECE_BYTES = 4  # bytes of text per token (3.9 on Multi30k with 6,000 pieces)
HELD_OUT, MOST_HELD_OUT = 0.05, 1000  # largest share and number of lines for a held-out set
SHORTENED = (1.0, 0.7, 0.5, 0.35, 0.25)  # shares of the usual updates, tried to fit the hours
PARTS = (1, 2, 4, 8, 16)  # parts of a batch (gradients are summed), tried to fit the memory


@dataclass(frozen=True)
class Machine:
    """Machine of the runs; `hours` is the user's limit for a whole run, if any."""

    cores: int
    memory_gib: float
    gpus: int = 0
    hours: float | None = None


@dataclass(frozen=True)
class Request:
    """Answers of the user; the texts are entries of the configuration by name.

    Lines of the first corpus are held out if there is no `validation`, or no `test_sets`.
    pairs: size of a corpus whose files are not here.  teacher: a name of the zoo, or a Hugging Face model as FOLDER
    or NAME@COMMIT; None: one that is trained.
    """

    experiment: str
    languages: tuple[str, str]
    corpora: Mapping[str, Config]
    machine: Machine
    validation: Config | None = None
    test_sets: Mapping[str, Config] = field(default_factory=dict)
    teacher: str | None = None
    pairs: int | None = None


class Scale(NamedTuple):
    """Models and settings for up to `pairs` sentence pairs, like the experiments of that size in config/."""

    pairs: float
    vocabulary: int
    teacher: str
    students: tuple[str, ...]
    batch_tokens: int
    learning_rate: float
    dropout: float


SCALES = (
    Scale(20_000, 2000, "demo.teacher", ("demo.tiny",), 2048, 0.003, 0.1),
    Scale(300_000, 6000, "multi30k.teacher", ("multi30k.base", "multi30k.tiny"), 4096, 0.0015, 0.3),
    Scale(3_000_000, 16_000, "transformer-base", ("base", "tiny"), 8192, 0.0005, 0.1),
    Scale(math.inf, 32_000, "transformer-base", ("base", "tiny"), 8192, 0.0003, 0.1),
)


@dataclass(frozen=True)
class Draft:
    """Configuration without its defaults, rows of its corpora, and estimates of a run: hours, and GiB of memory."""

    config: Config
    rows: int
    hours: float
    memory_gib: float


def draft(request: Request) -> Draft:
    """Return the first configuration for a request: the largest models and lengths that fit, or else the fastest.

    Raises InputError if a text cannot be read or its size is unknown, and ConfigurationError for other faults.
    """
    zoo, sizes = load_zoo(), {}
    for name, entry in request.corpora.items():
        sizes[name] = size_of(name, entry, request.pairs)
    text = _text(request, sizes)
    whole = together(list(sizes.values()))
    scales = [one for one in SCALES if one.pairs < whole.rows]
    scales.append(SCALES[len(scales)])
    drafts = []
    for scale, share in product(reversed(scales), SHORTENED):
        for parts in PARTS:
            config = text | _models(request, scale, share, whole, parts, zoo)
            complete = check(config, "weebill init", zoo)
            memory = _memory_gib(complete, request.machine, zoo)
            if fits := memory <= request.machine.memory_gib:
                break
        made = Draft(config, whole.rows, _hours(complete, request.machine), memory)
        if fits and (request.machine.hours is None or made.hours <= request.machine.hours):
            return made
        drafts.append((not fits, made.hours, made))
    return min(drafts, key=lambda one: one[:2])[-1]


def _text(request: Request, sizes: Mapping[str, Size]) -> Config:
    """Return the sections that name text; without validation or test sets, lines of the first corpus are held out."""
    corpora = {name: dict(entry) for name, entry in request.corpora.items()}
    for name, entry in corpora.items():
        if not any(key in entry for key in ("table", "source")):
            entry["rows"] = sizes[name].rows
    first, rest = next(iter(request.corpora.items()))
    held, end = max(1, min(MOST_HELD_OUT, int(HELD_OUT * sizes[first].rows))), 0
    validation, tests = request.validation, dict(request.test_sets)
    if validation is None:
        validation, end = dict(rest) | {"lines": {"first": 1, "last": held}}, held
    if not tests:
        tests["held_out"] = dict(rest) | {"lines": {"first": end + 1, "last": end + held}}
        end += held
    if end >= sizes[first].rows:
        raise InputError(
            f"corpora.{first}: {sizes[first].rows:,} lines, of which {end} would be held out; name more text, or "
            "texts by --validation and --test"
        )
    if end:
        corpora[first]["lines"] = {"first": end + 1}
    source, target = request.languages
    return {
        "experiment": request.experiment,
        "seed": 1,
        "languages": {"source": source, "target": target},
        "corpora": corpora,
        "validation": validation,
        "test_sets": tests,
    }


def _models(
    request: Request, scale: Scale, share: float, text: Size, parts: int, zoo: Zoo
) -> Config:
    """Return the sections of models at a scale, with a share of a text's usual updates, and batches in parts."""
    machine, gpus = request.machine, request.machine.gpus
    devices = max(1, gpus)
    # 26 epochs on Multi30k, 3 on ten million pairs
    epochs = min(30, max(3, 20 * (100_000 / text.rows) ** 0.4))
    positions = sum(text.bytes) / PIECE_BYTES + 2 * text.rows
    updates = _rounded(share * epochs * positions / scale.batch_tokens / devices)
    training = {
        "batch_tokens": scale.batch_tokens // parts,
        **({"accumulate": parts} if parts > 1 else {}),
        "updates": updates,
        "learning_rate": scale.learning_rate,
        "smoothing": round(min(0.01, max(0.0001, 10 / updates)), 4),
        **({"patience": 0} if updates < 20_000 else {}),
        **({"precision": "bfloat16"} if gpus else {}),
    }
    teacher = _teacher(scale.teacher if request.teacher is None else request.teacher, zoo)
    if "architecture" in teacher:
        teacher["training"] = {**training, "dropout": scale.dropout, "label_smoothing": 0.1}
    threads = max(1, machine.cores // devices)
    accelerator = "gpu" if gpus else "cpu"
    return {
        "vocabulary": _vocabulary(request, scale, text),
        "teacher": teacher,
        "distillation": {"shards": max(devices if gpus else machine.cores, text.rows // 2_000_000)},
        "students": list(scale.students),
        "training": training,
        "quantization": {"int8": {}},
        "hardware": {"accelerator": accelerator, "devices": devices, "threads": min(8, threads)},
    }


def _vocabulary(request: Request, scale: Scale, text: Size) -> Config:
    """Return the section of the vocabulary: one for each language if they have no common letters.

    It has a piece for each common character, of which Chinese and Japanese have thousands.
    """
    sides = [set(unicode_scripts(language)) for language in request.languages]
    if not sides[0].isdisjoint(sides[1]):
        later = sides[0] | sides[1] if request.pairs else ()
        counted = text.characters[0] + text.characters[1]
        return {"size": pieces(scale.vocabulary, sum(text.bytes), counted, later)}
    source, target = (
        pieces(scale.vocabulary // 2, size, counted, scripts if request.pairs else ())
        for size, counted, scripts in zip(text.bytes, text.characters, sides, strict=True)
    )
    own = {"source_size": source} if source != target else {}
    return {"size": target, "joint": False, **own}


def _teacher(model: str, zoo: Zoo) -> Config:
    name, _, commit = model.partition("@")
    if name in zoo:
        return {"architecture": name}
    if not commit and not Path(name).exists():
        raise InputError(
            f"init: --teacher {name}: no folder, and no model in {MODELS_NAME}{nearest(name, zoo)}; of a model on "
            "the hub, give the commit too, as NAME@COMMIT"
        )
    return {"hugging_face": name, **({"revision": commit} if commit else {})}


def _rounded(updates: float) -> int:
    """Round to two significant digits; return at least 100."""
    unit = 10 ** max(0, math.floor(math.log10(max(updates, 1))) - 1)
    return max(100, round(updates / unit) * unit)


def _memory_gib(config: Config, machine: Machine, zoo: Zoo) -> float:
    """Return the memory that all trainings need that the machine starts at once."""
    hardware = config["hardware"]
    at_once = max(1, machine.cores // hardware["threads"]) if not machine.gpus else 1
    trainings = [(student, config["training"]) for student in config["students"]]
    if "architecture" in (teacher := config["teacher"]):
        trainings.append((teacher["architecture"], teacher["training"]))
    largest = max(
        training_memory(config, name, training["batch_tokens"], [], zoo)
        for name, training in trainings
    )
    return at_once * largest * MIB / GIB


def _hours(config: Config, machine: Machine) -> float:
    """Return the hours of a run on all devices of the machine."""
    cost, devices = estimate(config), machine.gpus or machine.cores
    others = sum(cost.other_hours.values()) / machine.cores
    return max(cost.chain, sum(cost.hours.values()) / devices) + others
