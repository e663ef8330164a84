"""Miniature of an experiment, a function of its configuration: a small one, and the stand-ins that it reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from weebill.configuration.zoo_file import with_own
from weebill.experiment.student_names import with_students
from weebill.experiment.zoo import Zoo
from weebill.rehearsal.miniature import generation, metric, translation
from weebill.rehearsal.miniature.stand_ins import StandIns

KINDS: dict[str, Any] = {"translation": translation, "metric": metric, "generation": generation}
PREFIX = "rehearsal-"


class Miniature(NamedTuple):
    """Small experiment; the checksums of its stand-ins are known once these have been made."""

    config: dict[str, Any]
    stand_ins: StandIns


def miniature(config: Mapping[str, Any], zoo: Zoo, full: bool = False) -> Miniature:
    """Return the miniature of a checked experiment; full: with all of its variants.

    Raises InputError if the structure of a model of the hub is not known.
    """
    name = PREFIX + config["experiment"]
    stand_ins = StandIns(name, Path("results") / name / "stand_ins")
    own = with_own(zoo, config)
    sections = KINDS[config["kind"]].small(
        dict(config), with_students(own, config.get("students", [])), stand_ins, full
    )
    common = {
        "kind": config["kind"],
        "experiment": name,
        "rehearses": config["experiment"],
        "seed": config["seed"],
        "local_dir": str(stand_ins.local_dir),
        "hardware": small_hardware(config["hardware"]),
    }
    return Miniature({**common, **sections, "origins": stand_ins.origins}, stand_ins)


def small_hardware(hardware: Mapping[str, Any]) -> dict[str, Any]:
    """Return hardware of at most two devices with one thread; a GPU's code runs on the processor."""
    on_gpu = hardware["accelerator"] != "cpu"
    return {
        **hardware,
        "accelerator": "rehearsal" if on_gpu else "cpu",
        "devices": min(hardware["devices"], 2),
        "threads": 1,
    }
