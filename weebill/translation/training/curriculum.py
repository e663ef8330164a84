"""Staged curricula: a training that goes through stages, each with its own choice of the text.

The learning rate knows nothing of stages.  A stage begins its own order of its own rows, so that a batch depends on
the seed, the stage and its number alone, and a resumed run reads the same stream.
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
    """The update after which the last stage begins."""
    return sum(stage.updates for stage in stages[:-1])


def staged_batches(
    corpus: EncodedCorpus,
    stages: Sequence[Stage],
    batch_tokens: int,
    seed: int,
    per_update: int = 1,
    first_update: int = 0,
) -> Iterator[np.ndarray]:
    """Endless batches as `batch_stream` gives them, `per_update` to each update, from after `first_update` on.

    The first stage's order is that of a training without stages.  Raises InputError where a stage has no rows.
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
    """The rows of an epoch of a stage, some of them several times; None for all of them once."""
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
