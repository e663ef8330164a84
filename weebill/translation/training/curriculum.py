"""Staged curricula: trainings in stages, each with its own selection of the text.

The learning rate does not depend on stages.  Each stage has its own rows in its own order, so a batch depends only
on the seed, the stage and its number, and a resumed run reads the same stream.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from weebill.errors import InputError
from weebill.files import sha256_text
from weebill.translation.training.batches import batch_stream
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.settings import Stage


def last_begins(stages: Sequence[Stage]) -> int:
    """Return the update after which the last stage begins."""
    return sum(stage.updates for stage in stages[:-1])


def staged_batches(
    corpus: EncodedCorpus,
    stages: Sequence[Stage],
    batch_tokens: int,
    seed: int,
    per_update: int = 1,
    first_update: int = 0,
) -> Iterator[np.ndarray]:
    """Yield batches of `batch_stream` without end, `per_update` for each update, starting after `first_update`.

    The first stage has the order of a training without stages.  Raises InputError if a stage has no rows.
    """
    begin = 0
    for number, stage in enumerate(stages or [Stage()]):
        last = number >= len(stages) - 1
        done = max(0, first_update - begin)
        if last or done < stage.updates:
            rows = _rows(corpus, stage, number)
            order = seed if number == 0 else int(sha256_text(f"{seed} stage {number}")[:8], 16)
            stream = batch_stream(corpus, batch_tokens, order, done * per_update, rows)
            yield from stream if last else islice(stream, (stage.updates - done) * per_update)
        begin += stage.updates or 0


def _rows(corpus: EncodedCorpus, stage: Stage, number: int) -> np.ndarray | None:
    """Return the rows of an epoch of a stage, some of them several times; None for every row once."""
    if stage.augmented and set(stage.copies.values()) <= {1}:
        return None
    copies = [
        stage.copies.get(name, 1) if stage.augmented or not augmented else 0
        for name, augmented in corpus.group_names
    ]
    rows = np.repeat(np.arange(len(corpus)), np.array(copies)[corpus.groups])
    if not len(rows):
        raise InputError(f"training.stages[{number}]: leaves no pair to train on; raise its copies")
    return rows
