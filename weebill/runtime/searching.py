"""Searches with PyTorch that use engines as networks: beams, samples, ensembles, scores.

For `translation.search`, an engine's pieces are the columns chosen last: ascending pieces, EOS and UNK first, as
in the whole vocabulary.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from weebill.runtime.portable import pieces_of
from weebill.translation.model.batch import pad
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.forced import force_decode as force_decode_batches
from weebill.translation.search.run import search_batch
from weebill_runtime.batching import Sources
from weebill_runtime.compiled import Engine
from weebill_runtime.options import Candidate, SearchOptions
from weebill_runtime.student import Student
from weebill_runtime.text_translator import Progress


def search(
    student: Student, sources: Sources, options: SearchOptions, progress: Progress | None = None
) -> list[list[Candidate]]:
    """Return the n best translations of each source; probabilities are normalised over the allowed pieces."""
    results, ensemble = [[Candidate((), 0.0)] for _ in sources], _ensemble(student)
    for batch, cropped, limits in student.batches(sources, options, progress):
        with torch.inference_mode():
            given = (
                tensor.to(device_of_student(student))
                for tensor in (*pad(cropped), torch.tensor(limits))
            )
            found = search_batch(ensemble, *given, options)
        for index, candidates in zip(batch, found, strict=True):
            pieces = [tuple(student.columns[list(one.tokens)].tolist()) for one in candidates]
            results[index] = list(map(Candidate, pieces, [one.score for one in candidates]))
    return results


def greedy(
    student: Student, sources: Sources, options: SearchOptions, progress: Progress | None = None
) -> list[list[int]]:
    """Translate greedily by an ensemble; return pieces without their ends."""
    found = search(student, sources, replace(options, beam=1, nbest=1), progress)
    return [list(best.tokens) for best, *_ in found]


def force_decode(student: Student, pairs: Sequence[Sources], options: SearchOptions) -> list[float]:
    """Return the score of each pair of source and target, EOS last in both; any piece is allowed."""
    sources, targets = ([pair[side] for pair in pairs] for side in range(2))
    for engine in student.engines:
        engine.reserve(max(map(len, [*map(options.crop, sources), *targets]), default=0) + 1)
    student.choose(student.every)
    device = device_of_student(student)
    return force_decode_batches(_ensemble(student), sources, targets, options, device)


def device_of_student(student: Student) -> torch.device:
    """Return the device on which a student's engines compute."""
    return getattr(student.engines[0], "device", torch.device("cpu"))


def _ensemble(student: Student) -> Ensemble:
    return Ensemble([_Network(one) if isinstance(one, Engine) else one for one in student.engines])


class _Network:
    """Compiled engine as a network of `translation.search`; it holds sources and state of a search until its end."""

    def __init__(self, engine: Engine):
        self.engine, self.student = engine, engine.student

    def encode(self, source: Tensor, mask: Tensor) -> None:
        self.student.start(source[mask].tolist(), mask.sum(1).tolist())

    def start(self, memory: None, mask: Tensor) -> "_Rows":
        return _Rows(self.student, len(mask), len(mask))

    def step(self, tokens: Tensor, state: "_Rows") -> tuple[Tensor, "_Rows"]:
        columns = torch.from_numpy(self.engine.columns)
        return torch.from_numpy(self.student.step(pieces_of(columns, tokens).tolist())), state


class _Rows:
    """Handle of the search that the extension holds, with its numbers of rows and sentences."""

    def __init__(self, student: object, rows: int, sentences: int):
        self.student, self.rows, self.sentences = student, rows, sentences

    def select(self, rows: Tensor) -> "_Rows":
        """Make row i a copy of row rows[i], of the same sentence."""
        self.student.select(rows.tolist())
        return _Rows(self.student, len(rows), self.sentences)

    def keep(self, sentences: Tensor) -> "_Rows":
        """Keep only these sentences, with all their rows."""
        each = self.rows // self.sentences
        self.select((sentences[:, None] * each + torch.arange(each)).flatten())
        return _Rows(self.student, each * len(sentences), len(sentences))
