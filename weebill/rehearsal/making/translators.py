"""Small Hugging Face translation models with random weights: multilingual ones, and Marian's."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    NllbTokenizer,
)

SENTENCES = ("the bird sings", "in the old tree the bird sings in the tree", "bird")
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SHAPE = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 512,
    "init_std": 0.8,
}
PIECES = 36  # of the vocabulary of SENTENCES


def shape_of(layers: int, heads: int) -> dict[str, Any]:
    """Return SHAPE with other numbers of layers and heads, and the width that they need."""
    sides = ("encoder", "decoder")
    return {
        **SHAPE,
        "d_model": 4 * heads,
        **{f"{side}_layers": layers for side in sides},
        **{f"{side}_attention_heads": heads for side in sides},
    }


def make_nllb(
    folder: Path, sentences: Sequence[str] = SENTENCES, shape: dict[str, Any] = SHAPE
) -> Path:
    """Write a model like NLLB's, whose pieces are letters."""
    vocabulary = {piece: number for number, piece in enumerate([*SPECIAL, *_letters(sentences)])}
    tokenizer = NllbTokenizer(vocab=vocabulary, merges=[])
    config = M2M100Config(vocab_size=len(tokenizer), decoder_start_token_id=2, **shape)
    return _save(M2M100ForConditionalGeneration, config, tokenizer, folder)


def make_m2m(
    folder: Path,
    sentences: Sequence[str] = SENTENCES,
    shape: dict[str, Any] = SHAPE,
    pieces: int = PIECES,
) -> Path:
    """Write a model like M2M-100."""
    path, names = _pieces(folder, sentences, pieces)
    vocabulary = _write(folder / "pieces.json", [*SPECIAL, *names])
    tokenizer = M2M100Tokenizer(str(vocabulary), str(path))
    size = len(SPECIAL + names) + len(tokenizer.lang_code_to_token) + tokenizer.num_madeup_words
    config = M2M100Config(vocab_size=size, decoder_start_token_id=2, **shape)
    return _save(M2M100ForConditionalGeneration, config, tokenizer, folder)


def make_mbart(
    folder: Path, sentences: Sequence[str] = SENTENCES, shape: dict[str, Any] = SHAPE
) -> Path:
    """Write a model like the first mBART, whose pieces are letters."""
    tokenizer = MBartTokenizer(vocab=[(piece, -1.0) for piece in [*SPECIAL, *_letters(sentences)]])
    config = MBartConfig(vocab_size=len(tokenizer), forced_eos_token_id=None, **shape)
    return _save(MBartForConditionalGeneration, config, tokenizer, folder)


def make_marian(
    folder: Path,
    codes: tuple[str, ...] = (),
    sentences: Sequence[str] = SENTENCES,
    shape: dict[str, Any] = SHAPE,
    pieces: int = PIECES,
) -> Path:
    """Write a model like Marian's for one pair of languages, or into languages with codes, such as >>deu<<."""
    path, names = _pieces(folder, sentences, pieces)
    names = ["</s>", "<unk>", *codes, *names, "<pad>"]
    vocabulary = _write(folder / "pieces.json", names)
    tokenizer = MarianTokenizer(str(path), str(path), str(vocabulary))
    pad = len(names) - 1
    config = MarianConfig(
        vocab_size=len(names),
        pad_token_id=pad,
        eos_token_id=0,
        bos_token_id=0,
        decoder_start_token_id=pad,
        forced_eos_token_id=None,
        **shape,
    )
    return _save(MarianMTModel, config, tokenizer, folder)


def _letters(sentences: Sequence[str]) -> list[str]:
    return ["\u2581", *sorted(set("".join(sentences)) - {" "})]


def _pieces(folder: Path, sentences: Sequence[str], pieces: int) -> tuple[Path, list[str]]:
    """Return a SentencePiece model of the words, and its pieces without special ones."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pieces.spm"
    with path.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=io.BytesIO("\n".join([*sentences] * 9).encode()),
            model_writer=file,
            vocab_size=pieces,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    names = [model.id_to_piece(number) for number in range(model.get_piece_size())]
    return path, [name for name in names if name not in SPECIAL]


def _write(path: Path, names: list[str]) -> Path:
    path.write_text(json.dumps({name: number for number, name in enumerate(names)}))
    return path


def _save(model_class, config, tokenizer, folder: Path) -> Path:
    """Save random weights that never produce the padding."""
    torch.manual_seed(1)
    model = model_class(config).eval()
    tokenizer.save_pretrained(folder)
    model.generation_config.suppress_tokens = [config.pad_token_id]
    model.save_pretrained(folder)
    return folder
