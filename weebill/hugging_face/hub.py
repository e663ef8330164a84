"""Download of models from the Hugging Face hub by name and commit."""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from weebill.corpus.hugging_face_hub import address, licence_of, listing
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError
from weebill.files import atomic_folder, read_json, sha256_file, write_json
from weebill.replaceable import FolderKind

# Some parts are called model.safetensors-00001-of-00002.safetensors; int8.safetensors is our own.
WEIGHTS = re.compile(r"(model(\.safetensors)?(-\d+-of-\d+)?|int8)\.safetensors")
ORIGIN = "hub.json"
# Configuration, tokenizer with its chat template, and the index of weights in several parts.
BESIDE = (".json", ".model", ".spm", ".txt", ".jinja")


def fetch_model(name: str, revision: str, folder: str | Path, places: Places) -> None:
    """Fetch a model's weights in safetensors, its configuration and tokenizer; hub.json records the origin.

    A folder NAME in `local_dir` replaces the hub.  Raises InputError if it cannot be fetched, or has no safetensors.
    """
    sources = model_sources(name, revision, places)
    paths = {file: places.path(source) for file, source in sources.items()}
    licence = next(iter(sources.values())).licence
    former = Path(folder, ORIGIN)  # lists a fetched folder's files, which may be replaced
    others = read_json(former).get("files", {}) if former.is_file() else {}
    with atomic_folder(folder, FolderKind(always=(ORIGIN,), perhaps=tuple(others))) as partial:
        for file, path in paths.items():
            try:
                os.link(path.resolve(), partial / file)
            except OSError:  # another disk
                shutil.copyfile(path, partial / file)
        checksums = {file: sha256_file(path) for file, path in paths.items()}
        origin = {"name": name, "revision": revision, "licence": licence, "files": checksums}
        write_json(partial / ORIGIN, origin)


def model_sources(name: str, revision: str, places: Places) -> dict[str, Source]:
    """Return the files of a model, by name.  Raises InputError as `fetch_model` does."""
    own = Path(places.local_dir, name) if places.local_dir else None
    base = address("model", name, revision)
    if own is not None and own.is_dir():
        licence, checksums = None, dict.fromkeys((one.name for one in own.iterdir()), None)
    else:
        found = listing("model", name, revision, places.cache_path)
        licence, checksums = licence_of(found["card"]), found["files"]
    return {
        file: Source(
            f"{base}/{file}",
            name,
            revision,
            licence,
            file_name=f"{name}/{file}",
            sha256=checksums[file],
        )
        for file in _wanted(checksums, name)
    }


def _wanted(files: Iterable[str], name: str) -> list[str]:
    """Select, among all files of a folder, those that a model is read from."""
    names = sorted(file for file in files if "/" not in file and file != ORIGIN)
    if not any(map(WEIGHTS.fullmatch, names)):
        pickles = [file for file in names if file.endswith((".bin", ".pt"))]
        has = f"but {pickles[0]}, a pickle, which may run code" if pickles else "at all"
        raise InputError(
            f"{name}: has no weights model.safetensors {has}; name the commit of the pull request on the hub "
            "that adds them, where there is one, or another model"
        )
    return [file for file in names if WEIGHTS.fullmatch(file) or file.endswith(BESIDE)]
