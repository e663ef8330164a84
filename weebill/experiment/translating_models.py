"""Models that translate for an experiment, trained here or from Hugging Face: teachers, and one that only scores."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from weebill.errors import key_path
from weebill.experiment.corpora import Config

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PLACES = (("teacher",), ("reverse_teacher",), ("scoring", "reverse_model"))


class HuggingFaceModel(NamedTuple):
    """Hugging Face model of an experiment, at the key `key`: a folder, or a name on the hub if it has a revision.

    languages: codes of its input and output.  coded: True if the configuration itself names such codes.
    """

    key: str
    place: str
    revision: str | None
    languages: tuple[str, str]
    coded: bool


def hugging_face_models(config: Mapping[str, Any]) -> list[HuggingFaceModel]:
    """Return the Hugging Face models that a checked configuration names, in the order of the keys."""
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
    """Return True if a path that does not exist may be a model's name on the hub, NAME or NAME@COMMIT."""
    return HUB_NAME.fullmatch(name.partition("@")[0]) is not None


def hub_folder(section: Mapping[str, Any]) -> str | None:
    """Return the folder name of a model from the hub; None if the model is not from the hub."""
    if "revision" not in section:
        return None
    return f"{section['hugging_face'].replace('/', '--')}@{section['revision']}"


def hub_models(config: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return (name, revision) of every model from the hub by its folder's name."""
    return {
        name: (section["hugging_face"], section["revision"])
        for _, section in translating_models(config)
        if (name := hub_folder(section)) is not None
    }


def languages_of(
    config: Mapping[str, Any], section: Mapping[str, Any], reverse: bool
) -> tuple[str, str]:
    """Return the codes of a model's input and output, its own or the experiment's; reverse: target to source."""
    codes = {**config["languages"], **section.get("language_codes", {})}
    source, target = codes["source"], codes["target"]
    return (target, source) if reverse else (source, target)


def translating_models(config: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Config]]:
    """Yield the key path and the section of every translating model in a configuration."""
    for place in PLACES:
        found: Any = config
        for key in place:
            found = found.get(key, {})
        if found:
            yield place, found
