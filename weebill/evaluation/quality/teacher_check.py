"""BLEU of teachers on the validation set, checked before they translate the text that students learn from.

A teacher that is trained here was validated, and its folder records the BLEU of the weights that were kept.  Any
other teacher, such as a Hugging Face model, translates the first sentences of the validation set greedily.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from weebill.bleu import bleu
from weebill.corpus.table import side_texts
from weebill.errors import InputError
from weebill.files import read_json
from weebill.translation.loading import load_translator
from weebill_runtime.names import SIDES, Side
from weebill_runtime.options import SearchOptions

SENTENCES = 200  # of the validation set; a teacher of unknown BLEU translates them


@dataclass(frozen=True)
class TeacherBleu:
    """BLEU of one teacher's folder."""

    folder: str
    bleu: float
    sentences: int | None  # translated to compute it; None if the teacher's training recorded it


def check_teachers(
    folders: Sequence[str | Path],
    validation: str | Path,
    minimum: float,
    *,
    languages: tuple[str, str],
    target: str,
    device: str = "cpu",
    side: Side = "source",
) -> list[TeacherBleu]:
    """Return the BLEU of each member of a teacher; nothing is checked or returned if `minimum` is 0.

    languages: input and output.  target: language whose tokenizer BLEU uses.  side: the side that the teacher reads.
    Raises InputError that names every member under `minimum`.
    """
    if not minimum:
        return []
    found = []
    for folder in folders:
        score, sentences = recorded_bleu(folder), None
        if score is None:
            sides = SIDES if side == "source" else SIDES[::-1]
            given, wanted = ([*islice(side_texts(validation, one), SENTENCES)] for one in sides)
            translator = load_translator(folder, device, languages)
            translations = translator.translate(given, SearchOptions())
            score, sentences = bleu(target).corpus_score(translations, [wanted]).score, len(given)
        found.append(TeacherBleu(str(folder), score, sentences))
    poor = []
    for one in found:
        if one.bleu < minimum:
            of = "" if one.sentences is None else f" of {one.sentences:,} sentences"
            poor.append(
                f"{one.folder}: validation BLEU {one.bleu:.2f}{of}, under {minimum:g}: students would learn nothing "
                "from its translations; train it longer or on more text (a Hugging Face model: check its languages), "
                "or set distillation.min_teacher_bleu: 0 to go on"
            )
    if poor:
        raise InputError("\n".join(poor))
    return found


def recorded_bleu(folder: str | Path) -> float | None:
    """Return the validation BLEU that a model's training recorded for the weights it kept; None if there is none."""
    described = read_json(Path(folder) / "config.json")
    for key in ("lineage", "course", "best", "bleu"):
        described = described.get(key) if isinstance(described, dict) else None
    return described if isinstance(described, int | float) else None
