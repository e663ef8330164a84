"""Training batches: a stream of batches of an encoded corpus with a token budget, which can start anywhere.

Sentences are shuffled over the whole epoch.  Within a window of this order, they are sorted by length and cut into
batches of bounded size, and the batches of the window are shuffled again.  So batches have little padding, but the
order of lengths in training is random (no bucketing bias).  Each stage of a training has its own selection of the
text.  A batch depends only on seed, stage and number, so a resumed run, or another device, reads the same stream.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from weebill.errors import InputError
from weebill.files import sha256_text
from weebill.translation.training.encoding import EncodedCorpus
from weebill.translation.training.settings import Stage

WINDOW = 50  # batches sorted by length together
Rows = np.ndarray | slice  # rows of a corpus


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

    The first stage has the order of a training without stages.  Raises InputError at once if any stage has no rows.
    """
    stages = stages or [Stage()]
    copies = [_copies(corpus, stage, number) for number, stage in enumerate(stages)]
    begin = 0
    for number, stage in enumerate(stages):
        last = number == len(stages) - 1
        done = max(0, first_update - begin)
        if last or done < stage.updates:
            order = seed if number == 0 else int(sha256_text(f"{seed} stage {number}")[:8], 16)
            rows = _rows(corpus, copies[number])
            stream = batch_stream(corpus, batch_tokens, order, done * per_update, rows)
            yield from stream if last else islice(stream, (stage.updates - done) * per_update)
        begin += stage.updates or 0


def _copies(corpus: EncodedCorpus, stage: Stage, number: int) -> np.ndarray | None:
    """Return how often an epoch of a stage repeats the rows of each group; None: every row once."""
    if stage.augmented and set(stage.copies.values()) <= {1}:
        return None
    copies = [
        stage.copies.get(name, 1) if stage.augmented or not augmented else 0
        for name, augmented in corpus.group_names
    ]
    if not np.array(copies, dtype=bool)[corpus.groups].any():
        raise InputError(f"training.stages[{number}]: leaves no pair to train on; raise its copies")
    return np.array(copies)


def _rows(corpus: EncodedCorpus, copies: np.ndarray | None) -> Rows:
    """Return the rows of an epoch, some of them several times."""
    if copies is None:
        return slice(None)
    return np.repeat(np.arange(len(corpus)), copies[corpus.groups])


def batch_stream(
    corpus: EncodedCorpus, batch_tokens: int, seed: int, first: int = 0, chosen: Rows = slice(None)
) -> Iterator[np.ndarray]:
    """Yield batches without end, as arrays of row numbers, from batch number `first` on.

    A batch holds at most `batch_tokens` positions of source plus target, padding included, and at least one pair.
    chosen: the rows of an epoch, by default every row once.
    """
    source, target = corpus.lengths("source"), corpus.lengths("target")
    mean = float(source[chosen].mean() + target[chosen].mean())
    window_rows = max(1, int(WINDOW * batch_tokens / mean))
    number, epoch = 0, 0
    while True:
        random = np.random.default_rng((seed, epoch))
        order = random.permutation(np.arange(len(corpus))[chosen])
        for window, begin in enumerate(range(0, len(order), window_rows)):
            rows = order[begin : begin + window_rows]
            rows = rows[np.lexsort((rows, source[rows], target[rows]))]
            cuts = _cut(source[rows], target[rows], batch_tokens)
            if number + len(cuts) <= first:
                number += len(cuts)
                continue
            for index in np.random.default_rng((seed, epoch, window + 1)).permutation(len(cuts)):
                if number >= first:
                    yield rows[slice(*cuts[index])]
                number += 1
        epoch += 1


def _cut(source: np.ndarray, target: np.ndarray, budget: int) -> list[tuple[int, int]]:
    """Return consecutive ranges (begin, end) whose padded size is within the budget."""
    cuts, begin, longest_source, longest_target = [], 0, 0, 0
    for row, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        longest_source, longest_target = max(longest_source, s), max(longest_target, t)
        if row > begin and (row - begin + 1) * (longest_source + longest_target) > budget:
            cuts.append((begin, row))
            begin, longest_source, longest_target = row, s, t
    cuts.append((begin, len(source)))
    return cuts
