"""Tokenizers of encoders, read from the tokenizer file itself, so that no library converts it differently."""

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import sentencepiece
from tokenizers import Encoding, Tokenizer

from weebill.errors import InputError
from weebill.files import atomic_folder, sha256_text
from weebill.replaceable import FolderKind

FILE = "tokenizer.json"
SENTENCEPIECE = "sentencepiece.bpe.model"
SURPLUS = 2  # pieces of XLM-R that a SentencePiece model lacks: <pad> and <mask>
CUTTING = Lock()  # a tokenizer holds the length to cut at; threads that share it would change it


class SentenceTokenizer:
    """Tokenizer of a Hugging Face tokenizer.json.

    size: number of pieces, special ones included.  mask: the mask piece of pre-training, or None.  pad: the padding
    piece, or None; a text may contain it, and then it does not count in the mean.
    """

    def __init__(self, folder: str | Path) -> None:
        """Read a folder's tokenizer.  Raises InputError if there is none, or it is damaged."""
        path = Path(folder, FILE)
        if path.is_file():
            try:
                self._tokenizer = Tokenizer.from_file(str(path))
                self._tokenizer.encode("a")  # special pieces that do not exist show up only here
            except (KeyboardInterrupt, SystemExit):
                raise
            # The library raises no narrower errors, and a panic of Rust is not an Exception.
            except BaseException as error:
                raise InputError(f"{path}: no tokenizer ({error}); fetch it again") from error
        elif path.with_name(SENTENCEPIECE).is_file():
            self._tokenizer = _of_sentencepiece(folder)
        else:
            raise InputError(
                f"{folder}: no tokenizer ({FILE} or {SENTENCEPIECE}); put that of the encoder there"
            )
        self._prepare()

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "SentenceTokenizer":
        """Take a tokenizer."""
        made = cls.__new__(cls)
        made._tokenizer = tokenizer
        made._prepare()
        return made

    def _prepare(self) -> None:
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.size = self._tokenizer.get_vocab_size()
        self.mask = self._tokenizer.token_to_id("<mask>")
        pads = map(self._tokenizer.token_to_id, ("<pad>", "[PAD]"))
        self.pad = next((one for one in pads if one is not None), None)

    def check_ids(self, rows: int, origin: object) -> None:
        """Raise InputError, which names `origin`, if the id of a piece, or of a special one, is beyond `rows`."""
        ids = [*self._tokenizer.get_vocab().values(), *self._tokenizer.encode("").ids]
        if ids and max(ids) >= rows:
            raise InputError(
                f"{origin}: its tokenizer gives the id {max(ids):,}, but the encoder has {rows:,} embeddings; "
                "restore the tokenizer, or fetch or make the metric again"
            )

    def encode(self, texts: Sequence[str], longest: int) -> tuple[list[list[int]], list[int]]:
        """Return each text's pieces, special ones included, at most `longest`, and their number before the cut."""
        kept, full = self._encode(texts, longest, self._tokenizer.encode_batch_fast)
        return [one.ids for one in kept], full

    def encode_with_places(
        self, texts: Sequence[str], longest: int
    ) -> tuple[list[list[int]], list[int], list[list[tuple[int, int]]]]:
        """Return the results of `encode`, and the begin and end of each piece in its text."""
        kept, full = self._encode(texts, longest, self._tokenizer.encode_batch)
        return [one.ids for one in kept], full, [one.offsets for one in kept]

    def _encode(
        self, texts: Sequence[str], longest: int, encode: Callable[[list[str]], list[Encoding]]
    ) -> tuple[list[Encoding], list[int]]:
        with CUTTING:
            self._tokenizer.enable_truncation(longest)
            found = encode(list(texts))
            self._tokenizer.no_truncation()
        # An overflowing part begins and ends with the special pieces, as the first part does.
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        full = [len(one) + sum(len(part) - special for part in one.overflowing) for one in found]
        return found, full

    def encode_whole(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's pieces, special ones included, uncut."""
        with CUTTING:
            return [one.ids for one in self._tokenizer.encode_batch_fast(list(texts))]

    def description(self) -> str:
        """Return the tokenizer in the format of tokenizer.json."""
        return self._tokenizer.to_str()

    def decode(self, pieces: Sequence[int]) -> str:
        """Return the text of pieces, special ones included."""
        return self._tokenizer.decode(list(pieces), skip_special_tokens=False)

    @property
    def sha256(self) -> str:
        """Hash of the tokenizer's rules."""
        return sha256_text(self.description())

    def save(self, folder: Path) -> None:
        """Write the tokenizer to a model folder."""
        self._tokenizer.save(str(folder / FILE))


def train_tokenizer(
    path: str | Path, lines: Iterable[str], pieces: int, *, keep: bool = False
) -> int:
    """Train a tokenizer of XLM-R's kind, write its tokenizer.json and return its number of pieces.

    pieces: the largest number.  keep: also write the SentencePiece model.  The ids of the special pieces are
    XLM-R's: <s> 0, <pad> 1, </s> 2, <unk> 3, <mask> the last.  Raises InputError if there is no text, or it has more
    different characters than `pieces`.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=pieces - SURPLUS,
            hard_vocab_limit=False,
            max_sentence_length=10_000,  # bytes; longer lines are ignored
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
    if keep:
        Path(path).with_name(SENTENCEPIECE).write_bytes(model.getvalue())
    return tokenizer.get_vocab_size()


def make_tokenizer(folder: str | Path, lines: Iterable[str], pieces: int) -> None:
    """Make a folder with a tokenizer only, atomically.  Raises InputError as `train_tokenizer`."""
    with atomic_folder(folder, FolderKind(always=(FILE,))) as made:
        train_tokenizer(made / FILE, lines, pieces)


def _of_sentencepiece(folder: str | Path) -> Tokenizer:
    """Make XLM-R's tokenizer from the SentencePiece model of a folder."""
    from transformers import XLMRobertaTokenizer

    from weebill.hugging_face.loading import pretrained_tokenizer

    return pretrained_tokenizer(folder, XLMRobertaTokenizer, types=False).backend_tokenizer
