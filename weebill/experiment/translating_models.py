"""The models that translate for an experiment, trained here or Hugging Face's: teachers, and one that only scores."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weebill.errors import key_path

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
