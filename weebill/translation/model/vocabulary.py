"""SentencePiece vocabulary, of both languages or of one, with EOS = 0 and UNK = 1 as in the papers' models."""

import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from weebill.corpus.normalisation import Normalisation
from weebill.corpus.sampling import draw_items
from weebill.corpus.table import read_batches
from weebill.errors import InputError
from weebill.experiment.corpora import SIDES, Side
from weebill.experiment.vocabularies import TARGET_FILE
from weebill.files import atomic_path, sha256_file
from weebill.translation.model import charsmap

EOS, UNK = 0, 1
OWN = "weebill"  # the normalizer of `charsmap`; other names are SentencePiece's


class Vocabulary:
    """Trained SentencePiece model.  Raises InputError if the file is missing or of another kind.

    normalisation: what its training text had and input needs; None if the file has no record of it.
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
        self.sha256 = sha256_file(path)
        self.normalisation = _read_normalisation(self.path)

    def __len__(self) -> int:
        return self._pieces.get_piece_size()

    @property
    def source(self) -> "Vocabulary":
        """Return the vocabulary of sources: this one, which serves both languages (`VocabularyPair` has two)."""
        return self

    @property
    def target(self) -> "Vocabulary":
        """Return the vocabulary of translations, this one."""
        return self

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Return `vocabulary` and `source_vocabulary` of an `Architecture`."""
        return len(self), None

    @property
    def files(self) -> dict[str, "Vocabulary"]:
        """Return the vocabulary by the name of its file in a model folder."""
        return {TARGET_FILE: self}

    @property
    def about(self) -> dict[str, Any]:
        """Return the section of config.json."""
        return {"sha256": self.sha256, "pieces": len(self)}

    @property
    def pieces(self) -> list[str]:
        """Return the pieces in the order of their ids."""
        return [self._pieces.id_to_piece(index) for index in range(len(self))]

    @property
    def byte_pieces(self) -> list[int]:
        """Return the ids of the pieces that stand for a byte, of which text without other pieces is made."""
        return [index for index in range(len(self)) if self._pieces.is_byte(index)]

    @cached_property
    def _characters(self) -> frozenset[str]:
        return frozenset("".join(self.pieces))

    def lacks(self, text: str) -> bool:
        """Return True if a character of a text, other than a space, has no piece of its own."""
        return not self._characters.issuperset("".join(text.split()))

    def encode(self, sentences: list[str]) -> list[list[int]]:
        """Return the piece ids of each sentence of cleaned text, EOS last."""
        return [[*ids, EOS] for ids in self._pieces.encode(sentences, num_threads=1)]

    def encode_input(self, sentences: list[str], side: Side = "source") -> list[list[int]]:
        """Return the piece ids of each sentence as people write it, EOS last, normalised like the training text."""
        if self.normalisation is not None:
            sentences = self.normalisation(sentences, side)
        return self.encode(sentences)

    def decode(self, pieces: list[list[int]]) -> list[str]:
        """Return the text of each list of piece ids, without EOS; a line end made of bytes becomes a space."""
        texts = self._pieces.decode([[i for i in ids if i != EOS] for ids in pieces])
        return [text.replace("\n", " ") for text in texts]


def _read_normalisation(path: Path) -> Normalisation | None:
    """Return the normalisation that the name of a SentencePiece model's normalizer records."""
    name = ModelProto.FromString(path.read_bytes()).normalizer_spec.name
    if not name.startswith("{"):
        return None
    try:
        return Normalisation.from_dict(json.loads(name)["normalisation"])
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path}: its normalisation {name:.80} is none of Weebill's ({error}); use the version that made it, or "
            "train the vocabulary again"
        ) from error


def corpus_texts(corpora: Iterable[str | Path], sides: Sequence[str] = SIDES) -> Iterator[str]:
    """Yield both sides, or one, of the kept rows of corpus tables; a monolingual corpus has one."""
    for corpus in corpora:
        for rows in read_batches(corpus, list(sides)):
            for side in sides:
                yield from (text for text in rows[side].to_pylist() if text is not None)


def train_vocabulary(
    sentences: Iterable[str],
    path: str | Path,
    size: int,
    seed: int,
    max_sentences: int = 2_000_000,
    *,
    normalizer: str = "nmt_nfkc",
    character_coverage: float | None = None,
    byte_fallback: bool = False,
    normalisation: Normalisation | None = None,
) -> None:
    """Train and write a unigram SentencePiece model.

    sentences: cleaned text.  normalizer: OWN, or SentencePiece's name of its own.  normalisation: that of the text,
    which is recorded; OWN needs it.  character_coverage: share of the characters' occurrences that get pieces; None:
    0.9995, or 1 for less than 4,000 pieces without bytes.  byte_fallback: other characters become bytes.
    Raises InputError if the text is too small for the size, or the size for the characters.
    """
    sample = draw_items(sentences, max_sentences, seed)
    if not sample:
        raise InputError(f"vocabulary {path}: no text to train on; look at the cleaning report")
    if character_coverage is None:
        character_coverage = 1.0 if size < 4000 and not byte_fallback else 0.9995
    model, ids = io.BytesIO(), {"eos_id": EOS, "unk_id": UNK, "bos_id": -1, "pad_id": -1}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".tsv") as table:
        replacing = {"normalization_rule_name": normalizer}
        if normalizer == OWN:
            table.write(charsmap.as_table(charsmap.rules(normalisation)))
            table.flush()
            replacing = {"normalization_rule_tsv": table.name}
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(sample),
                model_writer=model,
                vocab_size=size,
                character_coverage=character_coverage,
                byte_fallback=byte_fallback,
                **ids,
                **replacing,
                max_sentence_length=10_000,
                num_threads=1,  # the order of floating-point sums must not depend on the machine
                minloglevel=2,
            )
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            remedy = "choose a smaller vocabulary.size"
            if "required_chars" in reason:
                remedy = (
                    "choose a larger vocabulary.size, or a smaller vocabulary.character_coverage"
                )
            raise InputError(
                f"vocabulary of {size} pieces cannot be trained on {len(sample):,} sentences ({reason}); {remedy}"
            ) from error
    with atomic_path(path) as partial:
        partial.write_bytes(_with_record(model.getvalue(), normalizer, normalisation))


def _with_record(model: bytes, normalizer: str, normalisation: Normalisation | None) -> bytes:
    """Write the normalisation into the name of a model's normalizer, which engines do not read."""
    if normalisation is None:
        return model
    proto = ModelProto.FromString(model)
    record = {"name": normalizer, "normalisation": normalisation.to_dict()}
    proto.normalizer_spec.name = json.dumps(record)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")  # a temporary file
    return proto.SerializeToString(deterministic=True)
