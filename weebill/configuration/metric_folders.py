"""Local model folders that a metric experiment cannot use: encoders and translators."""

from collections.abc import Iterator
from pathlib import Path

from weebill.configuration.schema import Config, at
from weebill.errors import InputError, key_path
from weebill.hugging_face.recognition import is_hugging_face
from weebill.metric.encoder_family import KEY, checked_family


def unfit_encoders(config: Config) -> Iterator[str]:
    """Yield a line for each encoder of a training that is of no class of COMET, or of another than is given."""
    for section in ("reference", "distillation"):
        trained = config.get(section, {"checkpoint": None})
        if "checkpoint" in trained:
            continue
        encoder = config["encoders"][trained["encoder"]]
        folder = encoder.get("hugging_face")
        if folder is None or "revision" in encoder or not Path(folder, "config.json").is_file():
            continue
        try:
            checked_family(trained["training"]["hyperparameters"].get(KEY), folder)
        except InputError as error:
            yield f"{section}.encoder: {error}"


def unfit_translators(config: Config) -> Iterator[str]:
    """Yield a line for each translator of a distillation that does not translate the languages of its step."""
    for place, way in at(config, "distillation.pairs.*.translations.*"):
        ends, models = config["distillation"]["pairs"][place[2]]["languages"], way.get("models", [])
        # The languages between several models are known only if they are given; models of one pair need none.
        alone = [ends["source"], ends["target"]] if len(models) == 1 else []
        codes = way.get("languages", alone)
        for number, folder in enumerate(models):
            if isinstance(folder, dict) or not is_hugging_face(folder):
                continue
            from weebill.translation.model.hugging_face_folder import check_folder  # slow to import

            try:
                check_folder(folder, tuple(codes[number : number + 2]) or None)
            except InputError as error:
                yield f"{key_path((*place, 'models', number))}: {error}"
