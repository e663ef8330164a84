"""Alignment of the pieces of training text by a student's own guided head."""

from itertools import chain
from pathlib import Path

import pyarrow as pa

from weebill.translation.model.folder import Model
from weebill.translation.training.alignments import Moved, alignments
from weebill.translation.training.encoding import augmented, write_links
from weebill.workflow.progress import tell
from weebill_runtime.names import SIDES
from weebill_runtime.vocabulary import AnyVocabulary


def align_by_model(
    table: str | Path, output: str | Path, model: Model, vocabulary: AnyVocabulary
) -> int:
    """Write the kept rows of a training text with a column `links`; return the number of rows that have links.

    links: as in `links_field`, one for each target piece; null for rows that augmentation added.  vocabulary: the one
    whose pieces are linked; it may differ from the model's.
    """
    move, total = Moved(model.vocabulary, vocabulary), 0

    def find(batch: pa.RecordBatch) -> list[list[int] | None]:
        nonlocal total
        texts = {side: batch[side].to_pylist() for side in SIDES}
        pieces = (getattr(model.vocabulary, side).encode(texts[side]) for side in SIDES)
        found = alignments(model.network, *pieces)
        links = []
        for own, *pair, added in zip(found, *texts.values(), augmented(batch), strict=True):
            places = enumerate(move(own, pair))
            both = chain.from_iterable((place, number) for number, place in places)
            links.append(None if added else list(both))
        total += sum(one is not None for one in links)
        tell(total, None, "rows")
        return links

    write_links(table, output, vocabulary, find)
    return total
