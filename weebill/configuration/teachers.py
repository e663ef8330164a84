"""Models that translate for an experiment, trained here or Hugging Face's: the teachers, and one that only scores."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weebill.configuration.schema import Fault, Key, key_path, unknown
from weebill.experiment.training_texts import corpora_of
from weebill.experiment.zoo import Zoo, members

Config = dict[str, Any]
HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PLACES: tuple[tuple[str, ...], ...] = (
    ("teacher",),
    ("reverse_teacher",),
    ("scoring", "reverse_model"),
)


@dataclass(frozen=True)
class HuggingFaceModel:
    """A Hugging Face model of an experiment, at the key `key`: a folder, or with a revision a name on the hub.

    languages: codes of its input and output.  coded: whether the configuration itself names some.
    """

    key: str
    place: str
    revision: str | None
    languages: tuple[str, str]
    coded: bool


def hugging_face_models(config: Mapping[str, Any]) -> list[HuggingFaceModel]:
    """The Hugging Face models that a checked configuration names, in the order of the keys."""
    return [
        HuggingFaceModel(
            f"{key_path(place)}.hugging_face",
            section["hugging_face"],
            section.get("revision"),
            languages_of(config, section, reverse=place != ("teacher",)),
            "language_codes" in section,
        )
        for place, section in translating_models(config)
        if "hugging_face" in section
    ]


def may_be_on_hub(name: str) -> bool:
    """Whether a path that is not here may be a model's name on the hub, NAME or NAME@COMMIT."""
    return HUB_NAME.fullmatch(name.partition("@")[0]) is not None


def hub_folder(section: Mapping[str, Any]) -> str | None:
    """What the folder of a model of the hub is called, None of one that is not from there."""
    if "revision" not in section:
        return None
    return f"{section['hugging_face'].replace('/', '--')}@{section['revision']}"


def hub_models(config: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """(name, revision) of every model of the hub by its folder's name."""
    return {
        name: (section["hugging_face"], section["revision"])
        for _, section in translating_models(config)
        if (name := hub_folder(section)) is not None
    }


def languages_of(
    config: Mapping[str, Any], section: Mapping[str, Any], reverse: bool
) -> tuple[str, str]:
    """The codes of a model's input and output: its own, or else the experiment's; reverse: from target to source."""
    codes = {**config["languages"], **section.get("language_codes", {})}
    source, target = codes["source"], codes["target"]
    return (target, source) if reverse else (source, target)


def translating_models(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Config]]:
    """Place and section of every model that translates, of those that a configuration has."""
    for place in PLACES:
        found: Any = config
        for key in place:
            found = found.get(key, {})
        if found:
            yield place, found


def teacher_faults(config: Config, zoo: Zoo) -> Iterator[Fault]:
    """Teachers that can be neither trained nor read, and corpora that none translates back."""
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
    """Whether a model is either of the zoo or Hugging Face's, and has only the keys of what it is."""
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
