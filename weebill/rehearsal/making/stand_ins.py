"""Making of all stand-ins of a miniature, and the checksums that its configuration names."""

import logging
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from transformers.utils.logging import disable_progress_bar

from weebill.corpus.language_id_training import train_identifier
from weebill.corpus.table import SCHEMA, write_table
from weebill.errors import InputError, nearest
from weebill.files import sha256_file, write_text
from weebill.rehearsal.making.generators import make_generator
from weebill.rehearsal.miniature.stand_ins import CHECKSUM_OF, Model, StandIns
from weebill.rehearsal.sentences import pairs

SENTENCES = 200  # of each language, on which tokenizers and identifiers are trained
PIECES = 400
ENCODER_PIECES = 600


def make_all(stand_ins: StandIns) -> None:
    """Write all files and models that are missing; a model is made before others that need it."""
    for path, text in stand_ins.files.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            write_text(path, text)
    for path, columns in stand_ins.tables.items():
        table = pa.table({name: _column(name, values) for name, values in columns.items()})
        if not path.is_file() or not pq.read_table(path).equals(table):
            write_table(path, table)
    disable_progress_bar()
    for path, model in stand_ins.models.items():
        if not path.exists():
            logging.info("making %s", path)
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f"{path.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            MAKERS[model.use](partial, model, _sentences(model.languages))
            partial.rename(path)


def with_checksums(values: Any) -> Any:
    """Return a configuration with the checksums of its stand-ins, which must exist."""
    if isinstance(values, Mapping):
        return {key: with_checksums(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [with_checksums(value) for value in values]
    if isinstance(values, str) and values.startswith(CHECKSUM_OF):
        return sha256_file(values.removeprefix(CHECKSUM_OF))
    return values


def _column(name: str, values: Sequence[Any]) -> pa.Array:
    return pa.array(values, SCHEMA.field(name).type if name in SCHEMA.names else None)


def _sentences(languages: Iterable[str]) -> list[str]:
    return [one for language in languages for one, _ in pairs((language, language), 0, SENTENCES)]


def _encoder(folder: Path, model: Model, sentences: Sequence[str]) -> None:
    """Write an encoder with weights, so that training can start from it."""
    from weebill.hugging_face.loading import read_config
    from weebill.metric.encoder_folders import write_encoder
    from weebill.metric.network import FAMILIES

    shape = {
        "hidden_size": 4 * model.heads,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "intermediate_size": 32,
        "max_position_embeddings": model.positions + 2,
        "layer_norm_eps": 1e-5,
    }
    write_encoder(folder, model.family, sentences, ENCODER_PIECES, **shape)
    kind = FAMILIES[model.family]
    kind(kind.config_class.from_dict(read_config(folder))).save_pretrained(folder)


def _checkpoint(folder: Path, model: Model, sentences: Sequence[str]) -> None:
    from weebill.rehearsal.making.metrics import make_checkpoint

    make_checkpoint(folder, Path(model.encoder), encoder_model=model.family)


def _translator(folder: Path, model: Model, sentences: Sequence[str]) -> None:
    from weebill.rehearsal.making import translators

    makers: dict[str, Callable[..., Path]] = {
        "marian": translators.make_marian,
        "nllb": translators.make_nllb,
        "m2m_100": translators.make_m2m,
        "mbart": translators.make_mbart,
    }
    if model.family not in makers:
        found = f"{folder}: no small model of the class '{model.family}' can be made"
        raise InputError(f"{found}{nearest(model.family, makers)}; one of {list(makers)}")
    shape = translators.shape_of(model.layers, model.heads)
    pieces = {"pieces": PIECES} if model.family in ("marian", "m2m_100") else {}
    makers[model.family](folder, sentences=sentences, shape=shape, **pieces)


def _identifier(path: Path, model: Model, sentences: Sequence[str]) -> None:
    train_identifier(
        path, [(language, one) for language in model.languages for one in _sentences([language])]
    )


MAKERS: dict[str, Callable[[Path, Model, Sequence[str]], None]] = {
    "encoder": _encoder,
    "checkpoint": _checkpoint,
    "translator": _translator,
    "generator": make_generator,
    "identifier": _identifier,
}
