"""SentencePiece vocabulary for both languages, with EOS = 0 and UNK = 1 as in the papers' models."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import sentencepiece

from weebill.corpus.sampling import draw_items
from weebill.corpus.table import read_batches
from weebill.errors import InputError
from weebill.files import atomic_path, sha256_file

EOS, UNK = 0, 1


class Vocabulary:
    """Trained SentencePiece model.  Raises InputError if the file is missing or of another kind."""

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

    def __len__(self) -> int:
        return self._pieces.get_piece_size()

    @property
    def pieces(self) -> list[str]:
        """Return the pieces in the order of their ids."""
        return [self._pieces.id_to_piece(index) for index in range(len(self))]

    def encode(self, sentences: list[str]) -> list[list[int]]:
        """Return the piece ids of each sentence, EOS last."""
        return [[*ids, EOS] for ids in self._pieces.encode(sentences, num_threads=1)]

    def decode(self, pieces: list[list[int]]) -> list[str]:
        """Return the text of each list of piece ids; EOS is left out."""
        return self._pieces.decode([[i for i in ids if i != EOS] for ids in pieces])


def corpus_texts(corpora: Iterable[str | Path]) -> Iterator[str]:
    """Yield both sides of the kept rows of corpus tables; a monolingual corpus has one."""
    for corpus in corpora:
        for rows in read_batches(corpus, ["source", "target"]):
            for side in ("source", "target"):
                yield from (text for text in rows[side].to_pylist() if text is not None)


def train_vocabulary(
    sentences: Iterable[str], path: str | Path, size: int, seed: int, max_sentences: int = 2_000_000
) -> None:
    """Train and write a unigram SentencePiece model.  Raises InputError if the text is too small for its `size`."""
    sample = draw_items(sentences, max_sentences, seed)
    if not sample:
        raise InputError(f"vocabulary {path}: no text to train on; look at the cleaning report")
    model, ids = io.BytesIO(), {"eos_id": EOS, "unk_id": UNK, "bos_id": -1, "pad_id": -1}
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=model,
            vocab_size=size,
            character_coverage=1.0 if size < 4000 else 0.9995,
            **ids,
            max_sentence_length=10_000,
            num_threads=1,  # the order of floating-point sums must not depend on the machine
            minloglevel=2,
        )
    except RuntimeError as error:
        raise InputError(
            f"vocabulary of {size} pieces cannot be trained on {len(sample):,} sentences "
            f"({str(error).splitlines()[-1].strip()}); choose a smaller vocabulary.size"
        ) from error
    with atomic_path(path) as partial:
        partial.write_bytes(model.getvalue())
