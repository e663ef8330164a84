"""Queries of the Hugging Face hub: files and card of a data set or a model at a commit."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.replaceable import has_keys

Kind = Literal["dataset", "model"]


def address(kind: Kind, name: str, revision: str) -> str:
    """Return the common prefix of the addresses of a repository's files."""
    below = "datasets/" if kind == "dataset" else ""
    return f"{_library(name).constants.ENDPOINT}/{below}{name}/resolve/{revision}"


def _library(name: str) -> ModuleType:
    """Return the hub's library, which the bare package lacks; name: of what is asked for."""
    try:
        import huggingface_hub.constants  # the library itself does not import it
    except ModuleNotFoundError as error:
        raise InputError(
            f"{name}: the module huggingface_hub, which asks the hub for it, is not installed; in Weebill's folder, "
            "`pip install ./runtime '.[workflow]'`"
        ) from error
    return huggingface_hub


def listing(kind: Kind, name: str, revision: str, cache: Path) -> dict[str, Any]:
    """Return {"card", "files": {path: sha256 or None}} of a commit on the hub; the answer is kept in `cache`.

    A damaged file there counts as missing.
    Raises InputError if the hub cannot be reached, or has no such commit.
    """
    folder = "hugging_face" if kind == "dataset" else "hugging_face_models"
    path = cache / folder / f"{name.replace('/', '--')}@{revision}.json"
    if path.is_file() and has_keys(path, {"card", "files"}):
        return read_json(path)
    ask = getattr(_library(name).HfApi(), f"{kind}_info")
    try:
        info = ask(name, revision=revision, files_metadata=True, timeout=60)
    except Exception as error:  # the hub's library may raise any of its client's exceptions
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        what = "data set" if kind == "dataset" else "model"
        raise InputError(
            f"{name}: the Hugging Face hub cannot be asked for commit {revision} ({first}); check the name "
            f"and the network, or put the {what}'s folder as '{name}' into a folder that the "
            "configuration names as `local_dir`"
        ) from error
    card = info.card_data.to_dict() if info.card_data is not None else {}
    found = {
        "card": {key: card.get(key) for key in ("license", "configs")},
        "files": {one.rfilename: one.lfs.sha256 if one.lfs else None for one in info.siblings},
    }
    write_json(path, found)
    return found


def licence_of(card: Mapping[str, Any]) -> str | None:
    """Return the licences that a card names."""
    found = card.get("license")
    return ", ".join(found) if isinstance(found, list) else found
