"""Published vocabularies cut to the commonest pieces of a text, and students with the pieces that are left."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from weebill.errors import InputError
from weebill.files import atomic_path
from weebill.model_lineage import versions
from weebill.translation.model.folder import load_model, model_hash, save_model
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture
from weebill_runtime.vocabulary import AnyVocabulary, Vocabulary, read_vocabulary

NORMAL = ModelProto.SentencePiece.Type.NORMAL
ROUNDS = 4  # rounds of dropping; each counts the remaining pieces anew


def cut_vocabulary(
    vocabulary: Vocabulary, texts: Iterable[str], size: int, path: str | Path
) -> None:
    """Write a SentencePiece model with `size` of a vocabulary's pieces, in their order, with their probabilities.

    Special pieces, bytes and single characters stay, and so do the commonest other pieces of the texts.  Each round
    of dropping encodes the texts anew in the remaining pieces.
    Raises InputError if the vocabulary is smaller than `size`, or if more pieces have to stay.
    """
    proto = ModelProto.FromString(vocabulary.path.read_bytes())
    fixed = sum(map(_stays, proto.pieces))
    if not fixed <= size <= len(vocabulary):
        raise InputError(
            f"{vocabulary.path}: has {len(vocabulary):,} pieces, of which {fixed:,} always stay, and the student has "
            f"{size:,}; give it a `vocabulary` between these in config/models.yaml"
        )
    words = Counter(word for text in texts for word in text.split())
    excess = len(vocabulary) - size
    for left in range(ROUNDS - 1, -1, -1):
        _drop(proto, words, size + excess * left // ROUNDS)
    proto.trainer_spec.vocab_size = size
    with atomic_path(path) as partial:
        partial.write_bytes(proto.SerializeToString(deterministic=True))


def _stays(piece: ModelProto.SentencePiece) -> bool:
    return piece.type != NORMAL or len(piece.piece) == 1


def _drop(proto: ModelProto, words: Mapping[str, int], size: int) -> None:
    """Keep `size` pieces of a model in place: those that stay, and the commonest others in the words."""
    if size == len(proto.pieces):
        return
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    counts = [0] * len(proto.pieces)
    for ids, count in zip(processor.encode(list(words)), words.values(), strict=True):
        for number in ids:
            counts[number] += count
    order = sorted(range(len(counts)), key=lambda i: (not _stays(proto.pieces[i]), -counts[i], i))
    kept = [proto.pieces[number] for number in sorted(order[:size])]
    copies = [ModelProto.SentencePiece.FromString(one.SerializeToString()) for one in kept]
    del proto.pieces[:]
    proto.pieces.extend(copies)


def with_vocabulary(network: Translator, before: AnyVocabulary, after: AnyVocabulary) -> Translator:
    """Return a student with the rows of the pieces of `after`, all of which `before` has."""
    target, source = after.sizes
    shape = replace(network.architecture, vocabulary=target, source_vocabulary=source)
    made, tensors = Translator(shape).eval(), dict(network.state_dict())
    rows = _rows(before.target, after.target)
    for name in ("embedding.weight", "output.weight", "output.bias"):
        tensors[name] = tensors[name][rows]
    if source is not None:
        name = "source_embedding.weight"
        tensors[name] = tensors[name][_rows(before.source, after.source)]
    made.load_state_dict(tensors)
    made.guided = network.guided
    return made


def _rows(before: Vocabulary, after: Vocabulary) -> torch.Tensor:
    numbers = {piece: number for number, piece in enumerate(before.pieces)}
    return torch.tensor([numbers[piece] for piece in after.pieces])


def make_student(
    published: str | Path,
    vocabulary: Sequence[str | Path],
    entry: Mapping[str, Any],
    output: str | Path,
) -> None:
    """Write the folder of a student that begins from a published one.

    vocabulary: files with all or some of the published pieces.  entry: the student's zoo entry.
    Raises InputError if the shape differs from the published one.
    """
    model, pieces = load_model(published), read_vocabulary(*vocabulary)
    if pieces.sizes[1] is None and model.vocabulary.sizes[1] is not None:
        raise InputError(f"{published}: has two vocabularies; set vocabulary.joint to false")
    network = with_vocabulary(model.network, model.vocabulary, pieces)
    wanted = Architecture.from_zoo(dict(entry), *pieces.sizes)
    if network.architecture != wanted:
        found = ", ".join(f"{key}: {value}" for key, value in _entry(model.network.architecture))
        raise InputError(
            f"{published}: its shape is not that of the student; add this one to config/models.yaml: {{{found}}}"
        )
    made = {
        "kind": "published",
        "parent": model_hash(published),
        "course": {"updates": 0, "history": []},
        "versions": versions(),
    }
    save_model(output, network, pieces, made)


def _entry(shape: Architecture) -> Iterator[tuple[str, Any]]:
    """Yield keys and values of the zoo's entry for a shape with layers of one kind."""
    layer = shape.encoder[0]
    yield "embedding", shape.embedding
    yield "feed_forward", layer.feed_forward
    yield "heads", layer.heads
    yield "attention_width", layer.heads * layer.head_size
    yield "encoder_layers", len(shape.encoder)
    yield "decoder_layers", shape.decoder_depth
    yield "decoder_tied", str(len(shape.decoder) < shape.decoder_depth).lower()
    yield "decoder", shape.decoder_kind
    yield "vocabulary", shape.vocabulary
