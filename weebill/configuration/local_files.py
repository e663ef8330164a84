"""Checks for local files that an experiment cannot use: metrics, encoders, translators, tables and texts."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from weebill.configuration.schema import Config, at
from weebill.errors import InputError, key_path
from weebill.hugging_face.recognition import is_hugging_face
from weebill.metric.encoder_family import KEY, checked_family
from weebill.text_files import check_counts, read_lines


def unfit_folders(paths: Iterable[tuple[str, str]], whole: bool) -> Iterator[str]:
    """Yield a line for every Hugging Face folder with code, among (key, path).

    whole: True for folders of models that are read by the class that they name, with their weights in safetensors.
    """
    for key, path in paths:
        if key.endswith(".hugging_face") and Path(path).is_dir():
            from weebill.hugging_face.foreign_code import refuse_code  # slow to import
            from weebill.hugging_face.loading import checked_config

            check = checked_config if whole else partial(refuse_code, types=False)
            yield from faults(key, check, path)


def unfit_references(config: Config) -> Iterator[str]:
    """Yield a line if a metric experiment's local checkpoint has a class that we cannot read."""
    for place, path in at(config, "reference.checkpoint"):
        if Path(path).exists() and find_spec("torch"):  # else its job reports the fault
            from weebill.metric.folder import check_metric  # slow to import

            yield from faults(key_path(place), check_metric, path)


def unfit_scorers(config: Config) -> Iterator[str]:
    """Yield a line if a translation experiment's local COMET model cannot be read."""
    for place, comet in at(config, "evaluation.comet"):
        if Path(comet["model"]).exists() and find_spec("torch"):  # else its job reports the fault
            from weebill.metric.folder import load_metric  # slow to import

            load = partial(load_metric, encoder=comet.get("encoder"), stream=True)
            yield from faults(key_path((*place, "model")), load, comet["model"])


def unfit_encoders(config: Config) -> Iterator[str]:
    """Yield a line for each encoder of a training whose class COMET lacks, or that differs from the given class."""
    for section in ("reference", "distillation"):
        trained = config.get(section, {"checkpoint": None})
        if "checkpoint" in trained:
            continue
        encoder = config["encoders"][trained["encoder"]]
        folder = encoder.get("hugging_face")
        if folder is None or "revision" in encoder or not Path(folder, "config.json").is_file():
            continue
        given = trained["training"]["hyperparameters"].get(KEY)
        yield from faults(f"{section}.encoder", checked_family, given, folder)


def unfit_translators(config: Config) -> Iterator[str]:
    """Yield a line for each translator of a distillation that does not translate the languages of its step."""
    for place, way in at(config, "distillation.pairs.*.translations.*"):
        ends, models = config["distillation"]["pairs"][place[2]]["languages"], way.get("models", [])
        # The languages between several models are known only if they are given; a model of one pair needs none.
        alone = [ends["source"], ends["target"]] if len(models) == 1 else []
        codes = way.get("languages", alone)
        for number, folder in enumerate(models):
            if isinstance(folder, dict) or not is_hugging_face(folder):
                continue
            from weebill.translation.model.hugging_face_folder import check_folder  # slow to import

            key, ways = key_path((*place, "models", number)), tuple(codes[number : number + 2])
            yield from faults(key, check_folder, folder, ways or None)


def unfit_texts(config: Config) -> Iterator[str]:
    """Yield a line for each table of judgements with wrong headings, and for files with other numbers of lines."""
    keys = ("reference|pruning.judgements.*", "pruning.development", "test_sets.*")
    for place, entry in at(config, *keys):
        if Path(entry["table"]).is_file():
            yield from faults(key_path(place), _check_table, entry)
    for place, speed in at(config, "evaluation.speed"):
        paths = [speed["sources"], *speed["systems"], *filter(None, [speed.get("references")])]
        if all(Path(path).is_file() for path in paths):
            lines = ((path, list(read_lines(path))) for path in paths)
            yield from faults(key_path(place), check_counts, lines)


def _check_table(entry: Config) -> None:
    """Raise InputError unless a table has the columns, and each file of scores has one line per row of the table."""
    from weebill.metric.judgements import read_heading  # slow to import

    table = entry["table"]
    heading = read_heading(table, entry["score"], by_system=not entry.get("humans", True))
    if entry.get("references") and "reference" not in heading:
        missing = "no column 'reference'; name it so, or set references: false"
        raise InputError(f"{table}: {missing}")
    if scores := [path for path in entry.get("scores", {}).values() if Path(path).is_file()]:
        rows = list(read_lines(table))[1:]
        for path in scores:
            check_counts([(f"{table}, below its headings,", rows), (path, list(read_lines(path)))])


def faults(key: str, check: Callable[..., Any], *arguments: Any) -> Iterator[str]:
    """Yield the message of a check as a line if it raises InputError for some arguments."""
    try:
        check(*arguments)
    except InputError as error:
        yield f"{key}: {error}"
