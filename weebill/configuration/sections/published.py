"""Settings of the published student that an experiment's students start from."""

from typing import Annotated

from weebill.settings import MinLen, Place, Sha256, Text, section


@section
class Published:
    """Firefox's int8 student, from which the experiment's students start instead of random weights.

    Each student in `students` has the shape of the published one, with its vocabulary or a smaller one, which is then
    cut to the commonest pieces of the corpora. Pruning recipes start from it with `reset_to: 0`, and `training` is
    their fine-tuning, guided by the published student's own alignments.
    """

    folder: Place | None = None
    """Folder with its files: model (`model.ende.intgemm.alphas.bin`), one or two vocabularies, and optionally a
    shortlist. The files may be compressed by gzip."""
    files: Annotated[dict[Text, Sha256], MinLen(1)] | None = None
    """Addresses of these files, each with its checksum, instead of `folder`."""
