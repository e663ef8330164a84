"""Readers of external files: how intact files are made for each reader, and how it reads them.

A reader is correct if it accepts a damaged file or raises an error that `weebill.errors.explain` puts into one line.
"""

import bz2
import gzip
import lzma
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zstandard

ROOT = Path(__file__).parents[2]
SENTENCES = ["The small bird sings in the old tree.", "", "A dog and two cats sleep."]


@dataclass(frozen=True)
class Reader:
    """Reader of files: make(folder) writes intact files, and read(folder) reads files, damaged or not."""

    make: Callable[[Path], None]
    read: Callable[[Path], object]
    damaged: tuple[str, ...]  # patterns of files to damage


def _golden(*parts: str) -> Callable[[Path], None]:
    """Return a function that unpacks some of the models that an earlier version wrote."""

    def make(folder: Path) -> None:
        with tarfile.open(ROOT / "tests/golden/golden.tar.xz") as archive:
            chosen = [one for one in archive.getmembers() if one.name.startswith(parts)]
            archive.extractall(folder, chosen, filter="data")

    return make


def _translate(folder: Path) -> None:
    from weebill_runtime import Translator

    Translator(next(folder.glob("student/*"))).translate(SENTENCES)


def _checkpoint(folder: Path) -> None:
    from tests.metric.small import make_checkpoint, make_encoder

    make_checkpoint(folder / "checkpoint", make_encoder(folder / "encoder"))


def _score(folder: Path) -> None:
    from weebill.metric.folder import load_metric
    from weebill.metric.scorer import Scorer

    Scorer(load_metric(folder / "metric")).score({"a": SENTENCES}, SENTENCES, SENTENCES)


def _score_checkpoint(folder: Path) -> None:
    from weebill.metric.folder import load_metric
    from weebill.metric.scorer import Scorer

    metric = load_metric(folder / "checkpoint")
    Scorer(metric).score({"a": SENTENCES}, SENTENCES, SENTENCES)


def _configurations(folder: Path) -> None:
    for name in ("demo", "multi30k", "metric-small", "generation-small", "texts"):
        shutil.copyfile(ROOT / f"config/{name}.yaml", folder / f"{name}.yaml")


def _check_configurations(folder: Path) -> None:
    from weebill.configuration.checking import check
    from weebill.yaml_files import read_yaml

    for path in folder.glob("*.yaml"):
        check(read_yaml(path), str(path))


def _import_marian(folder: Path) -> None:
    from weebill.runtime.exports.marian.firefox import import_student

    vocabulary = folder / "marian/vocab.spm"
    import_student(folder / "marian/model.npz", folder / "npz", vocabulary)
    import_student(
        folder / "marian/model.bin", folder / "bin", vocabulary, shortlist=folder / "lex"
    )


def _choose_columns(folder: Path) -> None:
    from weebill_runtime.shortlist import Shortlist

    Shortlist.load(folder / "shortlist.safetensors", (60, None)).columns(range(60))


def _candidates(folder: Path) -> None:
    lines = [f"{row // 2} ||| a bird {row} ||| F0= -1.2 F1= 3 ||| -{row}.5" for row in range(8)]
    (folder / "nbest.txt").write_text("\n".join(lines) + "\n")


def _read_candidates(folder: Path) -> None:
    from weebill.commands.mbr import read_candidates

    read_candidates(folder / "nbest.txt", 4)


def _judgements(folder: Path) -> None:
    rows = ["system\tseg_id\tsource\treference\thypothesis\tmqm"]
    rows += [f"s{row % 2}\t{row}\tA bird.\tEin Vogel.\tVogel {row}\t-{row}.5" for row in range(8)]
    (folder / "judged.tsv").write_text("\n".join(rows) + "\n")


def _read_judgements(folder: Path) -> None:
    from weebill.metric.judgements import averaged, read_judgements

    averaged(read_judgements(folder / "judged.tsv", "mqm", by_system=True))


def _use_cache(folder: Path) -> None:
    from weebill.metric.cache import Vector, VectorCache

    cache = VectorCache(folder / "cache.sqlite")
    cache.get("f", SENTENCES)
    cache.put("f", {text: Vector(np.ones(8, np.float32), 3) for text in SENTENCES})


def _table(folder: Path) -> None:
    import pyarrow as pa

    from weebill.corpus.table import write_table

    columns = {"source": SENTENCES * 3, "target": SENTENCES * 3, "weight": [1.0] * 9}
    write_table(folder / "table.parquet", pa.table(columns))


def _read_table(folder: Path) -> None:
    from weebill.corpus.table import count_rows, read_columns

    count_rows(folder / "table.parquet", kept=False)
    read_columns(folder / "table.parquet", ["source", "target"], kept=False)


def _archives(folder: Path) -> None:
    text = "".join(f"{line}\n" for line in SENTENCES * 9).encode()
    (folder / "plain.txt").write_bytes(text)
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.en", text)
        archive.writestr("LICENSE", "CC BY\n")
    with tarfile.open(folder / "a.tgz", "w:gz") as archive:
        archive.add(folder / "plain.txt", "a.en")
    half = len(text) // 2
    for suffix, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
        (folder / f"a.{suffix}").write_bytes(compress(text))
        (folder / f"two.{suffix}").write_bytes(compress(text[:half]) + compress(text[half:]))
    (folder / "a.zst").write_bytes(zstandard.compress(text))


def _read_archives(folder: Path) -> None:
    from weebill.corpus.importers.reading import TextFile, lines
    from weebill.corpus.importing import _licence_in

    for path in folder.iterdir():
        member = "*.en" if path.suffix in (".zip", ".tgz") else None
        list(lines(TextFile(path, member, path.suffix.replace(".txt", ""))))
    _licence_in(folder / "a.zip")


def _hugging_face(folder: Path) -> None:
    from weebill.rehearsal.making.translators import make_marian

    make_marian(folder / "model")


def _translate_hugging_face(folder: Path) -> None:
    from weebill.runtime.loading import load

    load(folder / "model").translate(SENTENCES)


def _generate(folder: Path) -> None:
    from weebill.generation.int8 import load_int8

    load_int8(next(folder.glob("generator/*")))


READERS = {
    "student": Reader(_golden("student/float32"), _translate, ("student/*/*",)),
    "int8 student": Reader(_golden("student/int8"), _translate, ("student/*/*",)),
    "log4 student": Reader(_golden("student/log4"), _translate, ("student/*/*",)),
    "metric": Reader(_golden("metric"), _score, ("metric/*",)),
    "COMET checkpoint": Reader(
        _checkpoint, _score_checkpoint, ("checkpoint/*.yaml", "checkpoint/*/*")
    ),
    "int8 BART": Reader(_golden("generator/bart"), _generate, ("generator/*/*",)),
    "int8 GPT-2": Reader(_golden("generator/gpt2"), _generate, ("generator/*/*",)),
    "Hugging Face model": Reader(_hugging_face, _translate_hugging_face, ("model/*",)),
    "Marian model": Reader(_golden("marian"), _import_marian, ("marian/*",)),
    "shortlist": Reader(_golden("shortlist"), _choose_columns, ("*",)),
    "vector cache": Reader(_golden("cache"), _use_cache, ("*",)),
    "configuration": Reader(_configurations, _check_configurations, ("*.yaml",)),
    "n-best list": Reader(_candidates, _read_candidates, ("*",)),
    "judgements": Reader(_judgements, _read_judgements, ("*",)),
    "corpus table": Reader(_table, _read_table, ("*",)),
    "archives": Reader(_archives, _read_archives, ("*",)),
}
