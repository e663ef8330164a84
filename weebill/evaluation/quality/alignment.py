"""Agreement of a student's alignments with those of the published student from which it begins."""

from collections.abc import Sequence
from dataclasses import dataclass

from weebill.errors import InputError
from weebill.translation.model.folder import Model
from weebill.translation.training.alignments import Moved, alignments


@dataclass(frozen=True)
class AlignmentAgreement:
    """Target pieces whose most attended source piece is the same for a student's guided head and the published one's.

    Both write the published student's translations.  If their pieces differ, a piece is compared with the piece of
    the published student that contains its end.
    """

    variant: str  # STUDENT/RECIPE/PRECISION
    lines: int
    pieces: int
    equal: int


class PublishedAlignments:
    """Alignments of a published student and its translations.  Raises InputError if the translations have no pieces.

    sources: lines as people write them.  targets: the student's translations.
    """

    def __init__(self, model: Model, sources: Sequence[str], targets: Sequence[str]):
        self.model, self.sources, self.targets = model, list(sources), list(targets)
        self.links = _alignments(model, self.sources, self.targets)
        if not any(self.links):
            raise InputError(f"{model.path}: translates all lines to nothing; look at the model")


def measure_agreement(name: str, model: Model, first: PublishedAlignments) -> AlignmentAgreement:
    """Compare the alignments of a student with the published one's."""
    sources, targets = first.sources, first.targets
    own = _alignments(model, sources, targets)
    move = Moved(first.model.vocabulary, model.vocabulary)
    texts = zip(_normalised(model, sources), targets, strict=True)
    wanted = [move(links, pair) for links, pair in zip(first.links, texts, strict=True)]
    both = [
        pair
        for one, other in zip(own, wanted, strict=True)
        for pair in zip(one, other, strict=True)
    ]
    return AlignmentAgreement(name, len(sources), len(both), sum(one == two for one, two in both))


def _normalised(model: Model, sources: Sequence[str]) -> list[str]:
    record = model.vocabulary.normalisation
    return list(sources if record is None else record(list(sources), "source"))


def _alignments(model: Model, sources: Sequence[str], targets: Sequence[str]) -> list[list[int]]:
    source = model.vocabulary.source.encode(_normalised(model, sources))
    return alignments(model.network, source, model.vocabulary.target.encode(list(targets)))
