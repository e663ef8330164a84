"""Folders of students for Firefox and other programs with Bergamot's engine, and the names of their files.

A folder has a model, a vocabulary or one of each language, and perhaps a shortlist; the names contain the languages.
The numbers in the name of a shortlist are those of Mozilla's training, whatever the size of the lists.
"""

import logging
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from weebill.errors import InputError
from weebill.files import atomic_folder, sha256_file, write_json
from weebill.runtime.exports import input_note
from weebill.runtime.exports.marian import configuration, int8_tensors
from weebill.runtime.exports.marian.binary import decoded, read_bin, write_bin
from weebill.runtime.exports.marian.conversion import import_model
from weebill.runtime.exports.marian.files import unpacked
from weebill.runtime.exports.marian.shortlists import read_shortlist, write_shortlist
from weebill.runtime.exports.verification import same_tensors
from weebill.runtime.shortlist import save_shortlist
from weebill.settings import LANGUAGE
from weebill.translation.model.network import Translator
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import AnyVocabulary, read_vocabulary

NAMES = {
    "model": "model.{}.intgemm.alphas.bin",
    "lex": "lex.50.50.{}.s2t.bin",
    "vocab": "vocab.{}.spm",
    "srcvocab": "srcvocab.{}.spm",
    "trgvocab": "trgvocab.{}.spm",
}  # by Firefox's types of files
CONFIGURATION, RECORDS = "config.intgemm8bitalpha.yml", "records.json"
# Settings of Firefox, for other programs with its engine.
DECODING = {
    "relative-paths": True,
    "beam-size": 1,
    "normalize": 1.0,
    "word-penalty": 0,
    "max-length-break": 128,
    "mini-batch-words": 1024,
    "workspace": 128,
    "max-length-factor": 2.0,
    "skip-cost": True,
    "cpu-threads": 0,
    "quiet": True,
    "quiet-translation": True,
    "gemm-precision": "int8shiftAlphaAll",
    "alignment": "soft",
}


def export(
    network: Translator,
    vocabulary: AnyVocabulary,
    folder: str | Path,
    shortlist: Shortlist | None = None,
    pad: bool = False,
    languages: Sequence[str] | None = None,
) -> None:
    """Write an int8 student with its integers and scales, its vocabularies, configuration and records, atomically.

    languages: codes of source and target, by default those that the vocabulary records.  pad: fill pruned layers up
    with zeros, see `configuration`, and feed-forward blocks to multiples of 64 neurons.
    The written model is read again and compared before the folder appears.
    Raises InputError if the student is not int8 throughout, its languages are unknown, or an engine cannot hold it.
    """
    source, target = languages or _languages(vocabulary)
    for code in (source, target):  # parts of names of files
        if not re.fullmatch(LANGUAGE.pattern, code):
            raise InputError(f"language '{code}': expected {LANGUAGE.expected}")
    int8_tensors.check_grid(network)
    if not network.guided:
        logging.warning(
            "Firefox places tags by the first head of the last cross-attention; alignments guided it in no training "
            "of this student; train it with training.guided_alignment: 0.1"
        )
    shape = int8_tensors.even_shape(network.architecture, pad)
    tensors = int8_tensors.stored_tensors(int8_tensors.student_of(network, shape).for_marian())
    sides = ["srcvocab", "trgvocab"] if shape.source_vocabulary else ["vocab"]
    kinds = ["model", *(["lex"] if shortlist else []), *sides]
    names = {kind: NAMES[kind].format(f"{source}{target}") for kind in kinds}
    with atomic_folder(folder) as partial:
        files = {kind: partial / name for kind, name in names.items()}
        write_bin(files["model"], tensors, configuration.from_architecture(shape))
        again, _ = read_bin(files["model"].read_bytes(), files["model"])
        same_tensors(decoded(again), decoded(tensors), folder)
        for kind, side in zip(sides, (vocabulary.source, vocabulary.target), strict=False):
            shutil.copyfile(side.path, files[kind])
        if shortlist:
            write_shortlist(files["lex"], shortlist)
        used = {"models": [names["model"]], "vocabs": [names[sides[0]], names[sides[-1]]]}
        used |= {"shortlist": [names["lex"], False]} if shortlist else {}
        text = yaml.safe_dump({**used, **DECODING}, sort_keys=False)
        (partial / CONFIGURATION).write_text(text, encoding="utf-8")
        languages = {"sourceLanguage": source, "targetLanguage": target}
        records = [_record(kind, path) | languages for kind, path in files.items()]
        write_json(partial / RECORDS, records)
        if note := input_note.input_note(vocabulary.normalisation, names[sides[0]]):
            (partial / input_note.NAME).write_text(note, encoding="utf-8")


def _languages(vocabulary: AnyVocabulary) -> tuple[str, str]:
    if (record := vocabulary.normalisation) is None:
        raise InputError(
            f"{vocabulary.target.path}: records no languages, which the names of Firefox's files contain; name both, "
            "such as --languages en de"
        )
    return record.source.language, record.target.language


def _record(kind: str, path: Path) -> dict[str, object]:
    """Return the record of a file in Firefox's registry."""
    attachment = {"filename": path.name, "size": path.stat().st_size, "hash": sha256_file(path)}
    return {"name": path.name, "fileType": kind, "attachment": attachment}


@dataclass(frozen=True)
class Published:
    """Files of a student; source_vocabulary: the source's own; None: there is none."""

    model: Path
    vocabulary: Path | None
    source_vocabulary: Path | None
    shortlist: Path | None


def find(path: str | Path) -> Published:
    """Find the files of a student by their names, in a folder or beside a model; gzip may have compressed them.

    Raises InputError if the folder has no model, or several of one type.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; check the path")
    folder = path if path.is_dir() else path.parent
    model = _only(folder, "model*.npz", "model*.bin") if path.is_dir() else path
    if model is None:
        raise InputError(f"{folder}: no model.*.bin or model*.npz in it; name the model's file")
    languages = re.fullmatch(r"model\.([^.]+)\.intgemm\..*", model.name)
    pair = f".{languages[1]}." if languages else "."
    return Published(
        model,
        _only(folder, f"trgvocab*{pair}spm", f"vocab*{pair}spm"),
        _only(folder, f"srcvocab*{pair}spm", f"source{pair}spm"),
        _only(folder, f"lex*{pair}*bin"),
    )


def _only(folder: Path, *patterns: str) -> Path | None:
    """Return the file of the first pattern that matches a file; unpacked files are preferred to packed ones."""
    for pattern in patterns:
        found = {path.name: path for path in folder.glob(pattern)}
        packed = {path.stem: path for path in folder.glob(f"{pattern}.gz")}
        if len(found := packed | found) > 1:
            raise InputError(
                f"{folder}: there are {', '.join(sorted(found))}; name the model's file"
            )
        if found:
            return next(iter(found.values()))
    return None


def import_student(
    path: str | Path,
    folder: str | Path,
    vocabulary: str | Path | None = None,
    source_vocabulary: str | Path | None = None,
    int8: bool = False,
    shortlist: str | Path | None = None,
) -> Published:
    """Write a published student as a model folder, and its shortlist if `shortlist` names a file; return its files.

    path: a folder, or a model.  vocabulary, source_vocabulary: files with other names than `find` knows.  int8, and
    further errors: as in `import_model`.
    """
    found = find(path)
    if vocabulary is None:
        vocabulary, source_vocabulary = (
            found.vocabulary,
            source_vocabulary or found.source_vocabulary,
        )
    if vocabulary is None:
        raise InputError(f"{path}: no vocabulary (*.spm) beside it; name it by --vocabulary")
    if shortlist is not None and found.shortlist is None:
        raise InputError(f"{path}: no shortlist (lex*.bin) beside it; leave out --shortlist")
    with TemporaryDirectory() as place:
        files = [
            one and _unpacked_file(Path(one), Path(place) / name)
            for one, name in ((vocabulary, "target.spm"), (source_vocabulary, "source.spm"))
        ]
        lists = None
        if shortlist is not None:
            pieces = read_vocabulary(*files)
            lists = read_shortlist(unpacked(found.shortlist), found.shortlist, pieces)
        import_model(found.model, files[0], folder, files[1], int8)
        if lists is not None:
            save_shortlist(lists, shortlist)
    return found


def _unpacked_file(path: Path, place: Path) -> Path:
    """Return a file; if gzip compressed it, unpack it to `place` and return that."""
    if path.suffix != ".gz":
        return path
    place.write_bytes(unpacked(path))
    return place
