"""Estimate of an experiment's cost before its first job: disk by kind of file, hours by stage.

It is computed from the checked configuration and the local files, for a run from the start.  It tends to be too
large, because it assumes that no row is dropped and no training stops early.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weebill.configuration.cost import CorpusSize, Work, total_bytes, weights
from weebill.configuration.rates import DEVICES, Rates
from weebill.configuration.resources import LINE_BYTES
from weebill.configuration.schema import Config
from weebill.corpus.robustness import KINDS
from weebill.experiment.precisions import grid_of
from weebill.experiment.scores import asked_for, scores_of
from weebill.experiment.training_texts import kinds_made_of, training_texts
from weebill.files import GIB, MIB
from weebill.pruning.recipes import made_variants
from weebill.quantization.grids import GRIDS
from weebill_runtime.names import SIDES

# Sizes relative to plain text, measured on Multi30k.
COMPRESSED = 0.35  # a corpus as published
TABLE = 0.4  # a table in Parquet
HYPOTHESIS = 0.25  # one hypothesis in an n-best list
ENCODED = 0.7  # input of a training: pieces, offsets, order of an epoch
LANGUAGE_MODEL = 10  # a language model with the temporary files of its estimation
# A training in progress keeps weights, smoothed weights and two moments of Adam, in the newest and the best
# checkpoint; a finished model keeps one copy of the weights.
TRAINING_COPIES = 8
JOB = 3.0  # seconds of a thread: start of a job, with its libraries, and its end


@dataclass(frozen=True)
class Estimate:
    """Estimated disk space and time of an experiment.

    disk: bytes below the results folder, by kind of file.  device: cpu or gpu.  hours: hours of one device, by stage.
    chain: hours of the longest chain of jobs.  fetched: bytes in the cache of downloads.  other_hours: hours of one
    CPU thread, by purpose.  unknown: messages about parts that are not counted.  memory: MiB of main memory that the
    first attempt of a job asks a cluster for, by rule; those of jobs that ask for less are left out.  each_core: MiB
    that the rule `measure_speed` asks for each core.
    """

    disk: dict[str, float]
    device: str
    hours: dict[str, float]
    chain: float
    fetched: float = 0
    other_hours: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    memory: Mapping[str, float] = field(default_factory=dict)
    each_core: float = 0

    @property
    def total_disk(self) -> int:
        """Total bytes below the results folder."""
        return int(sum(self.disk.values()))

    def lines(self, results: str | Path, free: int) -> list[str]:
        """Return the estimate as lines for the user; free: free bytes on the disk of the results."""
        device = DEVICES[self.device]
        rates = Rates.of({"accelerator": self.device, "threads": 1})
        enough = free > self.total_disk
        advice = "" if enough else "; this may not suffice, free some before it is needed"
        fetched = f"  fetched: {_about(_size(self.fetched))} more in the cache of downloads"
        disk = "not known"
        if self.disk:
            disk = f"at most {_about(_size(self.total_disk))} ({_listed(self.disk, _size)})"
        memory = []
        if self.memory:
            rule, most = max(self.memory.items(), key=lambda one: one[1])
            line = f"  memory: at most about {_size(most * MIB)} in one job ({rule})"
            if self.each_core:
                line += f"; measure_speed takes {_size(self.each_core * MIB)} for each core"
            memory.append(line)
        time = "not known"
        if self.hours or self.other_hours:
            rest = ""
            if self.other_hours:
                whole, parts = sum(self.other_hours.values()), _listed(self.other_hours, _hours)
                rest = f", and {_hours(whole)} of a CPU thread for the rest ({parts})"
            time = (
                f"{_about(_hours(sum(self.hours.values())))} of one {device} ({_listed(self.hours, _hours)}){rest}; "
                f"longest chain of jobs {_hours(self.chain)}"
            )
        return [
            f"{results}: an estimate for a run from nothing on, no row dropped, no training stopped early",
            f"  disk: {disk}; {_size(free)} are free{advice}",
            *[fetched] * bool(self.fetched),
            *memory,
            f"  time: {time}",
            f"  {rates.told()}",
            *(f"  not counted: {line}" for line in self.unknown),
        ]


def starts(jobs: int) -> dict[str, float]:
    """Return the hours of a CPU thread that the starts of some jobs take, with their name in an estimate."""
    return {f"starts of {jobs} jobs": JOB * jobs / 3600}


def disk_of(work: Work, others: Sequence[CorpusSize]) -> dict[str, float]:
    """Return bytes by kind of file, with temporary files, because all of them may exist at the same time."""
    config, corpora = work.config, work.corpora
    tables = distilled = 0.0
    added = _added(config)
    more = (added > 0) + (config["training"]["guided_alignment"] > 0)
    for size in corpora:
        text, pairs = size.text or 0.0, 2 * size.source
        # Tables: imported, cleaned, and with scores if there are any.
        tables += (2 + bool(scores_of(config, size.name, "cleaning"))) * TABLE * text
        hypotheses = 1 if size.monolingual else config["distillation"]["beam"]
        for kind in kinds_made_of(config, size.name):
            distilled += 2 * TABLE * text + hypotheses * HYPOTHESIS * size.source  # shards, n-best
            # Tables: merged, selected by scores, and in each training text joined with others, augmented and aligned.
            stage = "back_translation" if kind == "backward" else "distillation"
            joined = sum(kind in kinds for kinds in training_texts(config).values())
            texts_made = joined * (1 + more * (1 + added))
            distilled += (1 + bool(config[stage]["scores"]) + texts_made) * TABLE * pairs
    tables += sum(TABLE * (size.text or 0) for size in others)
    trained = 4 * (1 + TRAINING_COPIES)
    teachers = [
        trained * own.stored
        for name, model in work.models.items()
        if "architecture" in model
        for own in work.networks[name]
    ]
    students = 0.0
    for student, _, precision in made_variants(config):
        in_training = precision == "float32" or precision.endswith("-finetuned")
        grid = grid_of(precision)
        each = GRIDS[grid].bytes_per_weight if grid in GRIDS else 4.0  # float32
        each += 4 * TRAINING_COPIES if in_training else 0
        students += each * weights(work.zoo[student], config).stored
    estimated = LANGUAGE_MODEL * language_model_text(config, corpora)
    return {
        "corpora": tables,
        "distilled text": distilled,
        # All trainings share the teachers' text and the students' text until the end.
        "text in trainings": ENCODED * sum(trained_text(work)),
        "models and checkpoints": sum(teachers) + students,
        **({"language models": estimated} if estimated else {}),
    }


def trained_text(work: Work) -> tuple[float, float]:
    """Return the bytes of plain text that teachers learn from, and those that students learn from."""
    config, parallel, distilled = work.config, 0.0, 0.0
    trained = any("architecture" in model for model in work.models.values())
    for size in work.corpora:
        pairs = 2 * size.source
        distilled += (1 + _added(config)) * pairs * len(kinds_made_of(config, size.name))
        learnt_back = size.monolingual == "target" and config["teacher"]["back_translated"]
        if trained and (not size.monolingual or learnt_back):
            parallel += pairs
    return parallel, distilled


def _added(config: Config) -> float:
    """Return the text that augmentation adds, as a share of a training text; a merged row has the text of two."""
    augmentation = config["distillation"].get("augmentation", {})
    return sum(augmentation.get(kind, 0.0) * (2 if kind == "merged" else 1) for kind in KINDS)


def language_model_text(config: Config, corpora: Sequence[CorpusSize]) -> float:
    """Return the bytes of the language models' training text, drawn from configured text or a side's whole text."""
    found, settings = 0.0, config["scoring"]["language_model"]
    for side in (side for side in SIDES if f"language_model_{side}" in asked_for(config)):
        own = settings.get(f"{side}_text")
        sizes = [size for size in corpora if size.monolingual in (None, side)]
        text = sum(size.source for size in sizes) if own is None else total_bytes(own)
        rows = sum(size.rows or 0 for size in sizes) if own is None else text / LINE_BYTES
        found += text * min(1.0, settings["sentences"] / max(rows, 1))
    return found


def _size(count: float) -> str:
    if count < MIB:
        return "under 1 MiB"
    return f"{count / GIB:,.1f} GiB" if count >= GIB else f"{count / MIB:,.0f} MiB"


def _hours(hours: float) -> str:
    if hours >= 2:
        return f"{hours:,.0f} hours"
    minutes = round(60 * hours)
    return f"{minutes} minute{'s' * (minutes > 1)}" if minutes else "under a minute"


def _about(amount: str) -> str:
    return amount if amount.startswith("under") else f"about {amount}"


def _listed(values: Mapping[str, float], shown: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in values.items())
