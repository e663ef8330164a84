"""Folders of encoders without weights, as unbabel-comet's encoder classes read them: config.json and tokenizer."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordPieceTrainer

from weebill.metric.network import FAMILIES
from weebill.metric.tokenizer import FILE, train_tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # BERT's
# XLM-R's special pieces, as RemBERT calls them.
RENAMED = {"<s>": "[CLS]", "</s>": "[SEP]", "<mask>": "[MASK]"}
NARROW = {"input_embedding_size": 128, "output_embedding_size": 128}  # of RemBERT


def write_encoder(
    folder: Path, family: str, lines: Iterable[str], pieces: int, **shape: Any
) -> Path:
    """Write the folder of an encoder of COMET's `family`, with a tokenizer that is trained on lines."""
    folder.mkdir(parents=True)
    file = folder / FILE
    count = _train_word_pieces(file, lines, pieces) if family == "BERT" else 0
    count = count or train_tokenizer(file, lines, pieces)
    if family == "RemBERT":
        text = file.read_text(encoding="utf-8")
        for one, other in RENAMED.items():
            text = text.replace(json.dumps(one), json.dumps(other))
        file.write_text(text, encoding="utf-8")
    values = {
        "vocab_size": count,
        "pad_token_id": 0 if family in ("MiniLM", "BERT") else 1,
        "type_vocab_size": 2 if family in ("BERT", "RemBERT") else 1,
        **(NARROW if family == "RemBERT" else {}),
        **shape,
    }
    FAMILIES[family].config_class(**values).save_pretrained(folder)
    return folder


def _train_word_pieces(file: Path, lines: Iterable[str], pieces: int) -> int:
    """Write a tokenizer of BERT's kind, and return its number of pieces."""
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    trainer = WordPieceTrainer(vocab_size=pieces, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    ends = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.save(str(file))
    return tokenizer.get_vocab_size()
