"""Vocabulary with an invented word for each piece, which turns random pieces into text for engines that read text."""

from pathlib import Path

from sentencepiece.sentencepiece_model_pb2 import ModelProto

from weebill_runtime.vocabulary import EOS, UNK, Vocabulary

LETTERS, LENGTH = 26, 4  # letters of the alphabet and of a word: 456,976 words
SPACE = "\u2581"  # SentencePiece's mark


def invented_vocabulary(size: int, path: Path) -> Vocabulary:
    """Write and return a vocabulary of `size` pieces: end, unknown, and words that contain no other words."""
    model = ModelProto()
    kinds = ModelProto.SentencePiece
    model.trainer_spec.vocab_size = size
    model.trainer_spec.eos_id, model.trainer_spec.unk_id = EOS, UNK
    model.trainer_spec.bos_id = model.trainer_spec.pad_id = -1
    model.normalizer_spec.name = "identity"
    model.pieces.add(piece="</s>", score=0, type=kinds.CONTROL)
    model.pieces.add(piece="<unk>", score=0, type=kinds.UNKNOWN)
    for number in range(len(model.pieces), size):
        model.pieces.add(piece=SPACE + _word(number), score=-1)
    path.write_bytes(model.SerializeToString())
    return Vocabulary(path)


def _word(number: int) -> str:
    letters = ""
    for _ in range(LENGTH):
        number, letter = divmod(number, LETTERS)
        letters = chr(ord("a") + letter) + letters
    return letters
