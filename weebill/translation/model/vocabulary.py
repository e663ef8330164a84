"""Training of SentencePiece vocabularies, for both languages or for one."""

import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import sentencepiece
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from weebill.corpus.sampling import draw_items
from weebill.corpus.table import read_batches
from weebill.errors import InputError
from weebill.files import atomic_path
from weebill.translation.model import charsmap
from weebill_runtime.names import SIDES
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.vocabulary import EOS, UNK

MAX_SENTENCES = 2_000_000  # largest number that a vocabulary is trained on
OWN = "weebill"  # the normalizer of `charsmap`; other names are SentencePiece's


def corpus_texts(corpora: Iterable[str | Path], sides: Sequence[str] = SIDES) -> Iterator[str]:
    """Yield the texts of the given sides in the kept rows of corpus tables; monolingual corpora have one side."""
    for corpus in corpora:
        for rows in read_batches(corpus, list(sides)):
            for side in sides:
                yield from (text for text in rows[side].to_pylist() if text is not None)


def sampled_texts(
    corpora: Sequence[str | Path],
    sides: Sequence[str],
    seed: int,
    max_sentences: int = MAX_SENTENCES,
) -> list[str]:
    """Draw at most `max_sentences` texts of corpus tables at random, equally many of each side if it has enough."""
    most = max_sentences // len(sides)
    drawn = (draw_items(corpus_texts(corpora, [side]), most, seed) for side in sides)
    return list(chain.from_iterable(drawn))


def train_vocabulary(
    sentences: Iterable[str],
    path: str | Path,
    size: int,
    seed: int,
    max_sentences: int = MAX_SENTENCES,
    *,
    normalizer: str = "nmt_nfkc",
    character_coverage: float | None = None,
    byte_fallback: bool = False,
    normalisation: Normalisation | None = None,
) -> None:
    """Train and write a unigram SentencePiece model.

    sentences: cleaned text.  normalizer: OWN, or the name of one of SentencePiece's.  normalisation: that of the
    text, which the model records; OWN needs it.  character_coverage: share of character occurrences that pieces
    cover; None: 0.9995, or 1 for fewer than 4,000 pieces without bytes.  byte_fallback: other characters become
    bytes.  Raises InputError if the text is too small for the size, or the size too small for the characters.
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
            remedy = "choose a smaller vocabulary.size, or add text"
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
    """Write the normalisation into the name of a model's normalizer, which engines ignore."""
    if normalisation is None:
        return model
    proto = ModelProto.FromString(model)
    record = {"name": normalizer, "normalisation": normalisation.to_dict()}
    proto.normalizer_spec.name = json.dumps(record)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")  # a temporary file
    return proto.SerializeToString(deterministic=True)
