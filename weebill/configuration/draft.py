"""First configuration for a user's text: models and training lengths that fit the text, the machine and the hours."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

from weebill.configuration.checking import check, estimate
from weebill.configuration.cost import SIDE_BYTES
from weebill.configuration.resources import training_memory
from weebill.configuration.schema import Config
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.download import is_url
from weebill.corpus.language_codes import unicode_scripts
from weebill.errors import InputError
from weebill.experiment.origins import PREFIX
from weebill.experiment.zoo import Zoo
from weebill.files import GIB, MIB
from weebill.text_files import read_lines

# Bytes of text per token (3.9 on Multi30k with 6,000 pieces), and bytes of text needed per piece of a vocabulary.
PIECE_BYTES, VOCABULARY_BYTES = 4, 50
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


class Size(NamedTuple):
    """Rows and bytes of text; both sides count."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class Draft:
    """Configuration without its defaults, rows of its corpora, and the estimated hours of a run."""

    config: Config
    rows: int
    hours: float


def draft(request: Request) -> Draft:
    """Return the first configuration for a request: the largest models and lengths that fit, or else the fastest.

    Raises InputError if a text cannot be read or its size is unknown, and ConfigurationError for other faults.
    """
    zoo, sizes = load_zoo(), {}
    for name, entry in request.corpora.items():
        sizes[name] = _size(name, entry, request.pairs)
    text = _text(request, sizes)
    whole = Size(*(sum(column) for column in zip(*sizes.values(), strict=True)))
    scales = [one for one in SCALES if one.pairs < whole.rows]
    scales.append(SCALES[len(scales)])
    best = None
    for scale, share in product(reversed(scales), SHORTENED):
        for parts in PARTS:
            config = text | _models(request, scale, share, whole, parts, zoo)
            complete = check(config, "weebill init", zoo)
            if _fits(complete, request.machine, zoo):
                break
        hours = _hours(complete, request.machine)
        if best is None or hours < best.hours:
            best = Draft(config, whole.rows, hours)
        if request.machine.hours is None or hours <= request.machine.hours:
            break
    return best


def _size(name: str, entry: Config, pairs: int | None) -> Size:
    """Return the rows and bytes of a corpus, counted in local files or else estimated from `pairs`."""
    files = [entry[key] for key in ("table", "source", "target") if key in entry]
    absent = [file for file in files if not Path(file).is_file()]
    for file in absent:
        if not is_url(file) and not file.startswith(PREFIX):
            raise InputError(f"{file}: no such file; check the path")
    if absent or not files:
        if pairs is None:
            raise InputError(
                f"corpora.{name}: its size is not known before it is fetched; give the number of its pairs by --pairs"
            )
        return Size(pairs, pairs * SIDE_BYTES * (1 if "use" in entry else 2))
    counts = {}
    for file in files:
        rows = size = 0
        for line in read_lines(file):
            rows, size = rows + 1, size + len(line.encode())
            if "table" in entry and "\t" not in line:
                raise InputError(
                    f"{file}:{rows}: no tab; a table has the source and the target in two columns"
                )
        if not rows:
            raise InputError(f"{file}: empty file; a corpus has at least one line")
        counts[file] = Size(rows, size)
    rows = {size.rows for size in counts.values()}
    if len(rows) > 1:
        told = " and ".join(f"{file} has {size.rows:,} lines" for file, size in counts.items())
        raise InputError(
            f"corpora.{name}: {told}; the sides of a corpus must have one line per pair"
        )
    return Size(rows.pop(), sum(size.bytes for size in counts.values()))


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
    positions = text.bytes / PIECE_BYTES + 2 * text.rows
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
    apart = set.isdisjoint(*map(set, map(unicode_scripts, request.languages)))
    tables = 2 if apart else 1  # two vocabularies for languages without common letters
    size = max(100, text.bytes // tables // VOCABULARY_BYTES // 100 * 100)
    size = min(scale.vocabulary // tables, size + 300)  # 256 pieces are bytes
    threads = max(1, machine.cores // devices)
    accelerator = "gpu" if gpus else "cpu"
    return {
        "vocabulary": {"size": size, **({"joint": False} if apart else {})},
        "teacher": teacher,
        "distillation": {"shards": max(devices if gpus else machine.cores, text.rows // 2_000_000)},
        "students": list(scale.students),
        "training": training,
        "quantization": {"int8": {}},
        "hardware": {"accelerator": accelerator, "devices": devices, "threads": min(8, threads)},
    }


def _teacher(model: str, zoo: Zoo) -> Config:
    name, _, commit = model.partition("@")
    if name in zoo:
        return {"architecture": name}
    return {"hugging_face": name, **({"revision": commit} if commit else {})}


def _rounded(updates: float) -> int:
    """Round to two significant digits; return at least 100."""
    unit = 10 ** max(0, math.floor(math.log10(max(updates, 1))) - 1)
    return max(100, round(updates / unit) * unit)


def _fits(config: Config, machine: Machine, zoo: Zoo) -> bool:
    """Return True if the memory suffices for all trainings that the machine starts at once."""
    hardware = config["hardware"]
    at_once = max(1, machine.cores // hardware["threads"]) if not machine.gpus else 1
    trainings = [(student, config["training"]) for student in config["students"]]
    if "architecture" in (teacher := config["teacher"]):
        trainings.append((teacher["architecture"], teacher["training"]))
    largest = max(
        training_memory(config, name, training["batch_tokens"], [], zoo)
        for name, training in trainings
    )
    return at_once * largest <= machine.memory_gib * GIB / MIB


def _hours(config: Config, machine: Machine) -> float:
    """Return the hours of a run on all devices of the machine."""
    cost, devices = estimate(config), machine.gpus or machine.cores
    others = sum(cost.other_hours.values()) / machine.cores
    return max(cost.chain, sum(cost.hours.values()) / devices) + others
