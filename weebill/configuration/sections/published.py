"""Settings of the published student from which an experiment's students begin."""

from typing import Annotated

from weebill.settings import MinLen, Place, Sha256, Text, section


@section
class Published:
    """Firefox's student, in int8, from which the experiment's students begin instead of first weights.

    The shape of each student in `students` is that of the published one, with its vocabulary or a smaller one, which
    is then cut to the commonest pieces of the corpora. Pruning recipes start from it with `reset_to: 0`, and
    `training` is their fine-tuning, guided by the published student's own alignments.
    """

    folder: Place | None = None
    """Folder of its files: model (`model.ende.intgemm.alphas.bin`), vocabulary or vocabularies, and perhaps a
    shortlist; gzip may have compressed them."""
    files: Annotated[dict[Text, Sha256], MinLen(1)] | None = None
    """Addresses of these files, each with its checksum, in place of `folder`."""
