"""SentencePiece vocabularies, for both languages or for one, with EOS = 0 and UNK = 1 as in the papers' models."""

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece

from weebill_runtime.errors import InputError
from weebill_runtime.json_text import parse_json
from weebill_runtime.names import SOURCE_FILE, TARGET_FILE, Side
from weebill_runtime.normalisation import Normalisation

EOS, UNK = 0, 1


class Vocabulary:
    """Trained SentencePiece model.  Raises InputError if the file is missing or of another kind.

    normalisation: that of its training text, which input needs too; None if the file has no record of it.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError(f"{path}: no such vocabulary; train it first or correct the path")
        try:
            self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except (RuntimeError, OSError) as error:
            raise InputError(f"{path}: not a SentencePiece model ({error})") from error
        if (self._pieces.eos_id(), self._pieces.unk_id()) != (EOS, UNK):
            message = f"{path}: needs EOS = 0 and UNK = 1; train the vocabulary with Weebill"
            raise InputError(message)
        self.sha256 = hashlib.sha256(self.path.read_bytes()).hexdigest()
        self.normalisation = _read_normalisation(self.path)

    def __len__(self) -> int:
        return self._pieces.get_piece_size()

    @property
    def source(self) -> "Vocabulary":
        """Vocabulary of sources: this one, which serves both languages (`VocabularyPair` has two)."""
        return self

    @property
    def target(self) -> "Vocabulary":
        """Vocabulary of translations, this one."""
        return self

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Values of `vocabulary` and `source_vocabulary` in an `Architecture`."""
        return len(self), None

    @property
    def files(self) -> dict[str, "Vocabulary"]:
        """Vocabulary by the name of its file in a model folder."""
        return {TARGET_FILE: self}

    @property
    def about(self) -> dict[str, Any]:
        """Section of config.json."""
        return {"sha256": self.sha256, "pieces": len(self)}

    @property
    def pieces(self) -> list[str]:
        """Pieces in the order of their ids."""
        return [self._pieces.id_to_piece(index) for index in range(len(self))]

    @property
    def byte_pieces(self) -> list[int]:
        """Ids of the byte pieces, which spell text that has no other pieces."""
        return [index for index in range(len(self)) if self._pieces.is_byte(index)]

    @cached_property
    def _characters(self) -> frozenset[str]:
        return frozenset("".join(self.pieces))

    def lacks(self, text: str) -> bool:
        """Return True if a character of a text, other than a space, has no piece of its own."""
        return not self._characters.issuperset("".join(text.split()))

    def encode(self, sentences: list[str], threads: int = 1) -> list[list[int]]:
        """Return the piece ids of each sentence of cleaned text, EOS last."""
        return [[*ids, EOS] for ids in self._pieces.encode(sentences, num_threads=threads)]

    def encode_input(
        self, sentences: list[str], side: Side = "source", threads: int = 1
    ) -> list[list[int]]:
        """Return the piece ids of each sentence as people write it, EOS last, normalised like the training text."""
        if self.normalisation is not None:
            sentences = self.normalisation(sentences, side)
        return self.encode(sentences, threads)

    def decode(self, pieces: list[list[int]]) -> list[str]:
        """Return the text of each list of piece ids, without EOS; a line end made of bytes becomes a space."""
        texts = self._pieces.decode([[i for i in ids if i != EOS] for ids in pieces])
        return [text.replace("\n", " ") for text in texts]


def _read_normalisation(path: Path) -> Normalisation | None:
    """Return the normalisation that the name of a SentencePiece model's normalizer records."""
    name = _normalizer_name(path.read_bytes())
    if not name.startswith("{"):
        return None
    try:
        return Normalisation.from_dict(parse_json(name)["normalisation"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path}: its normalisation {name:.80} is none of Weebill's ({error}); use the version that made it, or "
            "train the vocabulary again"
        ) from error


def _normalizer_name(model: bytes) -> str:
    """Return the name of the normalizer in a serialised model: field 1 of the message in field 3."""
    specification = b"".join(_fields(model, 3))
    return b"".join(_fields(specification, 1)).decode("utf-8", "replace")


def _fields(message: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the contents of a field in a valid message of Protocol Buffers."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind = key & 7
        if kind == 2:  # bytes, text or a message
            size, place = _number(message, place)
            if key >> 3 == wanted:
                yield message[place : place + size]
            place += size
        elif kind == 0:
            _, place = _number(message, place)
        else:  # numbers of 8 or 4 bytes
            place += 8 if kind == 1 else 4


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Return the whole number at a place, seven bits a byte, and the place after it."""
    number = shift = 0
    while True:
        byte = message[place]
        number, place, shift = number | (byte & 0x7F) << shift, place + 1, shift + 7
        if byte < 0x80:
            return number, place


@dataclass(frozen=True)
class VocabularyPair:
    """Vocabulary of sources and vocabulary of translations, with the interface that one `Vocabulary` has too."""

    source: Vocabulary
    target: Vocabulary

    @property
    def normalisation(self) -> Normalisation | None:
        """Normalisation of both sides, which each vocabulary records."""
        return self.target.normalisation

    def encode_input(
        self, sentences: list[str], side: Side = "source", threads: int = 1
    ) -> list[list[int]]:
        """Return the piece ids of each sentence of a side, as `Vocabulary.encode_input` does."""
        return getattr(self, side).encode_input(sentences, side, threads)

    @property
    def sha256(self) -> str:
        """Hash of both, which identifies the pair."""
        return hashlib.sha256(f"{self.source.sha256} {self.target.sha256}".encode()).hexdigest()

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Values of `vocabulary` and `source_vocabulary` in an `Architecture`."""
        return len(self.target), len(self.source)

    @property
    def files(self) -> dict[str, Vocabulary]:
        """Vocabularies, the target's first, by the names of their files in a model folder."""
        return {TARGET_FILE: self.target, SOURCE_FILE: self.source}

    @property
    def about(self) -> dict[str, Any]:
        """Section of config.json."""
        return {**self.target.about, "source": self.source.about}


AnyVocabulary = Vocabulary | VocabularyPair


def copy_vocabulary(vocabulary: AnyVocabulary, folder: Path) -> None:
    """Copy the file of a vocabulary, or those of a pair, into a folder."""
    for name, side in vocabulary.files.items():
        shutil.copyfile(side.path, folder / name)


def read_vocabulary(target: str | Path, source: str | Path | None = None) -> AnyVocabulary:
    """Read the vocabulary of both languages or, if `source` is given, of each.  Raises the errors of `Vocabulary`."""
    if source is None:
        return Vocabulary(target)
    return VocabularyPair(Vocabulary(source), Vocabulary(target))
