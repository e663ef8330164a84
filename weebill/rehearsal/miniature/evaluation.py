"""Miniature of the measurements of a translation experiment."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from weebill.experiment.zoo import Zoo
from weebill.rehearsal.miniature.shapes import stand_in_of
from weebill.rehearsal.miniature.stand_ins import StandIns
from weebill.rehearsal.miniature.texts import HELD_OUT
from weebill.rehearsal.miniature.trainings import FEW, at_most
from weebill.rehearsal.miniature.variants import Chosen, student_kind

Config = dict[str, Any]
RESAMPLES = 40
TIMED = 8  # sentences
LABELLED = 60  # pairs, a third of them wrong
GPU_BATCH = 16  # largest batch that is timed


def small(
    config: Config,
    chosen: Chosen,
    languages: tuple[str, str],
    tests: Collection[str],
    stand_ins: StandIns,
    zoo: Zoo,
) -> Config:
    """Return the section `evaluation` with few sentences, rounds and resamplings; tests: the remaining test sets."""
    given = config["evaluation"]
    made = at_most(given, bootstrap=RESAMPLES) | {"speed": _speed(given["speed"], chosen)}
    if "original_languages" in given:
        made["original_languages"] = [name for name in given["original_languages"] if name in tests]
    if "mbr" in given:
        made["mbr"] = at_most(given["mbr"], candidates=4)
    if "engines" in given:
        made["engines"] = _engines(given["engines"], zoo)
    if "comet" in given:
        others = {key: value for key, value in given["comet"].items() if key != "encoder"}
        model = small_checkpoint(given["comet"]["model"], languages, stand_ins)
        made["comet"] = {**others, "model": model}
    if "labelled" in given:
        made["labelled"] = _labelled(given["labelled"], languages, stand_ins)
    return made


def small_checkpoint(name: str, languages: tuple[str, ...], stand_ins: StandIns) -> str:
    """Return the place of a stand-in for a COMET checkpoint; its encoder is beside it."""
    encoder = stand_in_of(name, "encoder", languages=languages)
    folder = stand_ins.model(f"{name}.encoder", encoder)
    return stand_ins.model(name, replace(encoder, use="checkpoint", encoder=folder))


def _speed(speed: Config, chosen: Chosen) -> Config:
    sizes = list(dict.fromkeys(min(size, GPU_BATCH) for size in speed["gpu_batch_sizes"]))
    made = {
        **at_most(
            speed, sentences=TIMED, batch_size=TIMED, teacher_sentences=2, latency_sentences=2
        ),
        "rounds": 1,
        "least_seconds": 0.0,
        "gpu_batch_sizes": sizes[:FEW],
        "gpu_variants": chosen.gpu_patterns(),
    }
    if "gpu_text" in speed:
        made["gpu_text"] = {**speed["gpu_text"], "sentences": 2 * HELD_OUT + TIMED}
    return made


def _engines(engines: Config, zoo: Zoo) -> Config:
    """Return the comparison with CTranslate2 of one architecture of each kind."""
    kinds = {student_kind(name, zoo): name for name in reversed(engines["architectures"])}
    made = {
        **engines,
        "architectures": [name for name in engines["architectures"] if name in kinds.values()],
        "sentences": TIMED,
        "rounds": 1,
    }
    return made | ({"memory_sentences": 10 * TIMED} if "memory_sentences" in engines else {})


def _labelled(labelled: Config, languages: tuple[str, str], stand_ins: StandIns) -> Config:
    """Return a table of labelled pairs; every third pair has the translation of another."""
    pairs = stand_ins.pairs(languages, LABELLED)
    columns = labelled["columns"]
    width = max(columns.values()) + 1
    lines = ["\t".join(f"column{number}" for number in range(width))]
    for number, (source, target) in enumerate(pairs):
        good = number % 3 > 0
        cells = ["-"] * width
        cells[columns["source"]] = source
        cells[columns["target"]] = target if good else pairs[number - 7][1]
        cells[columns["label"]] = str(int(good))
        lines.append("\t".join(cells))
    return {**labelled, "table": stand_ins.file(labelled["table"], lines)}
