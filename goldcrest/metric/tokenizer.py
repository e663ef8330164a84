"""Sentences as an encoder's pieces, with the tokenizer file itself: no library rebuilds it in another way."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram
from tokenizers.trainers import UnigramTrainer

from goldcrest.errors import InputError
from goldcrest.files import sha256_text

FILE = "tokenizer.json"
SENTENCEPIECE = "sentencepiece.bpe.model"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
PAD = ("<pad>", "[PAD]")


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

    pieces: at most so many, special ones included.  The first ids are XLM-R's: <s> 0, <pad> 1, </s> 2, <unk> 3.
    """
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = UnigramTrainer(
        vocab_size=pieces, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=["<s>", "$A", "</s>"], special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(path))
    return tokenizer.get_vocab_size()


def _read(folder: Path) -> Tokenizer:
    path = folder / FILE
    if path.is_file():
        try:
            return Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{path}: no tokenizer ({error}); fetch it again") from error
    if (folder / SENTENCEPIECE).is_file():
        from transformers import XLMRobertaTokenizer

        return XLMRobertaTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
    raise InputError(
        f"{folder}: no tokenizer ({FILE} or {SENTENCEPIECE}); put that of the encoder there"
    )
