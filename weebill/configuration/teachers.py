"""Checks of teachers, and of the model that only scores: each must be trained here or read."""

from collections.abc import Iterator
from typing import Any

from weebill.configuration.schema import Fault, unknown
from weebill.errors import Key
from weebill.experiment.training_texts import corpora_of
from weebill.experiment.translating_models import HUB_NAME
from weebill.experiment.zoo import Zoo, members

Config = dict[str, Any]


def teacher_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for each teacher that can be neither trained nor read, and for a missing reverse teacher."""
    yield from _teacher("teacher", config["teacher"], zoo)
    if "reverse_teacher" in config:
        yield from _teacher("reverse_teacher", config["reverse_teacher"], zoo)
    elif names := corpora_of(config, "backward"):
        message = f"missing, expected the teacher that translates corpus '{names[0]}' back"
        yield Fault(("reverse_teacher",), message)


def _teacher(section: str, teacher: Config, zoo: Zoo) -> Iterator[Fault]:
    yield from origin_faults((section,), teacher, zoo)
    name = teacher.get("architecture")
    if name in zoo and len(members(zoo[name])) not in (1, teacher["members"]):
        yield Fault(
            (section, "members"),
            f"found {teacher['members']}, expected {len(members(zoo[name]))}, "
            f"the models that '{name}' lists in config/models.yaml",
        )
    elif "hugging_face" in teacher and teacher["members"] != 1:
        message = f"found {teacher['members']}, expected 1, as hugging_face names one model"
        yield Fault((section, "members"), message)
    if "hugging_face" in teacher and teacher.get("back_translated"):
        message = "found true beside hugging_face, expected false: such a teacher is not trained"
        yield Fault((section, "back_translated"), message)


def origin_faults(place: tuple[Key, ...], section: Config, zoo: Zoo) -> Iterator[Fault]:
    """Yield a fault for a model that is not either of the zoo or from Hugging Face, or has keys of the other kind."""
    name, foreign = section.get("architecture"), section.get("hugging_face")
    if (name is None) == (foreign is None):
        found = "neither" if name is None else "both"
        yield Fault(place, f"found {found}, expected one of architecture, hugging_face")
    elif name is not None and name not in zoo:
        yield Fault((*place, "architecture"), unknown("model", name, zoo, "config/models.yaml"))
    if foreign is None:
        for key in ("revision", "language_codes"):
            if key in section:
                message = "found without hugging_face, expected it beside hugging_face alone"
                yield Fault((*place, key), message)
    elif "revision" in section and not HUB_NAME.fullmatch(foreign):
        message = f"found '{foreign}' beside revision, expected OWNER/MODEL as on the hub"
        yield Fault((*place, "hugging_face"), message)
