"""Sentences as an encoder's pieces, with the tokenizer file itself: no library rebuilds it in another way."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import sentencepiece
from tokenizers import Tokenizer

from weebill.errors import InputError
from weebill.files import atomic_folder, sha256_text
from weebill.replaceable import FolderKind

FILE = "tokenizer.json"
SENTENCEPIECE = "sentencepiece.bpe.model"
SURPLUS = 2  # XLM-R's pieces beyond a SentencePiece model's: <pad> and <mask>
PAD = ("<pad>", "[PAD]")
MASK = "<mask>"


class SentenceTokenizer:
    """A tokenizer.json of Hugging Face's.

    pad: the piece that pads, or None; a text may name it, and then it counts for nothing in the mean.
    """

    def __init__(self, folder: str | Path) -> None:
        """Raises InputError where the folder has no tokenizer, or a damaged one."""
        folder = Path(folder)
        self._tokenizer = _read(folder)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        ids = (self._tokenizer.token_to_id(name) for name in PAD)
        self.pad = next((one for one in ids if one is not None), None)

    def encode(self, texts: Sequence[str], longest: int) -> tuple[list[list[int]], list[int]]:
        """The pieces of each text, special ones included, at most `longest`, and how many there were uncut."""
        self._tokenizer.enable_truncation(longest)
        found = self._tokenizer.encode_batch_fast(list(texts))
        kept = [one.ids for one in found]
        # A part that overflows begins and ends with the special pieces again, as the first part does.
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        full = [len(one) + sum(len(part) - special for part in one.overflowing) for one in found]
        return kept, full

    @property
    def size(self) -> int:
        """Pieces that it knows, special ones included."""
        return self._tokenizer.get_vocab_size()

    @property
    def mask(self) -> int | None:
        """The piece that stands for a hidden one in pre-training, None where it has none."""
        return self._tokenizer.token_to_id(MASK)

    @property
    def sha256(self) -> str:
        """The hash of how it divides text."""
        self._tokenizer.no_truncation()
        return sha256_text(self._tokenizer.to_str())

    def save(self, folder: Path) -> None:
        """Write it to a model folder."""
        self._tokenizer.no_truncation()
        self._tokenizer.save(str(folder / FILE))


def train_tokenizer(path: str | Path, lines: Iterable[str], pieces: int) -> int:
    """Write a tokenizer.json of XLM-R's kind, trained on some text; returns how many pieces it knows.

    pieces: at most so many, special ones included.  The ids of the special ones are XLM-R's: <s> 0, <pad> 1,
    </s> 2, <unk> 3, <mask> the last.  Equal text gives equal bytes.
    Raises InputError where there is no text, or it has more characters than pieces are allowed.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=pieces - SURPLUS,
            hard_vocab_limit=False,
            max_sentence_length=10_000,  # bytes; longer lines are left out
            num_threads=1,  # the order of floating-point sums must not depend on the machine
            minloglevel=2,
        )
    except RuntimeError as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"{path}: a tokenizer of {pieces:,} pieces cannot be trained on this text ({said}); "
            "give more text, or another number of pieces"
        ) from error
    with TemporaryDirectory() as folder:
        Path(folder, SENTENCEPIECE).write_bytes(model.getvalue())
        tokenizer = _of_sentencepiece(folder)
    tokenizer.save(str(path))
    return tokenizer.get_vocab_size()


def make_tokenizer(folder: str | Path, lines: Iterable[str], pieces: int) -> None:
    """The folder of a tokenizer alone, made atomically.  Raises InputError as `train_tokenizer`."""
    with atomic_folder(folder, FolderKind(always=(FILE,))) as made:
        train_tokenizer(made / FILE, lines, pieces)


def _read(folder: Path) -> Tokenizer:
    path = folder / FILE
    if path.is_file():
        try:
            return Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{path}: no tokenizer ({error}); fetch it again") from error
    if (folder / SENTENCEPIECE).is_file():
        return _of_sentencepiece(folder)
    raise InputError(
        f"{folder}: no tokenizer ({FILE} or {SENTENCEPIECE}); put that of the encoder there"
    )


def _of_sentencepiece(folder: str | Path) -> Tokenizer:
    """XLM-R's tokenizer around the SentencePiece model of a folder."""
    from transformers import XLMRobertaTokenizer

    from weebill.hugging_face.loading import pretrained_tokenizer

    return pretrained_tokenizer(folder, XLMRobertaTokenizer, types=False).backend_tokenizer
