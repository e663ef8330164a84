"""Settings of the models that translate for an experiment: teachers, and a reverse model that only scores."""

from typing import Annotated

from weebill.settings import Commit, Count, MinLen, Text, section
from weebill.translation.training.settings import TrainingConfig


@section
class LanguageCodes:
    """Codes of our languages in a model of many languages."""

    source: Text | None = None
    """The model's code for `languages.source`."""
    target: Text | None = None
    """The model's code for `languages.target`."""


@section
class TranslatingModel:
    """Model that translates: from the zoo, trained here, or from Hugging Face."""

    architecture: str | None = None
    """Entry of `models.yaml`, which is trained here; the alternative is `hugging_face`."""
    hugging_face: Text | None = None
    """Trained sequence-to-sequence model of Hugging Face (MarianMT, NLLB, M2M, mBART, …) with weights in safetensors:
    its folder, or its name on the hub."""
    revision: Commit | None = None
    """Commit of 40 digits, which a name on the hub needs."""
    language_codes: Annotated[LanguageCodes, MinLen(1)] | None = None
    """Codes of our languages in a model of many languages, if they differ from those in `languages`: `{source:
    eng_Latn, target: zho_Hans}`. `source` is always the code of `languages.source`."""


@section
class ReverseModel(TranslatingModel):
    """Model of the reverse direction, trained here on the cleaned parallel corpora with a vocabulary of its own."""

    training: TrainingConfig = TrainingConfig()
    """Settings of its training, with the same defaults as `training`."""


@section
class ReverseTeacher(TranslatingModel):
    """Teacher of the reverse direction, trained here with a vocabulary of its own."""

    members: Count = 1
    """Number of models, of different seeds, that form the ensemble."""
    training: TrainingConfig = TrainingConfig()
    """Settings of its members' training, with the same defaults as `training`."""


@section
class Teacher(ReverseTeacher):
    """Model that translates the students' training text."""

    back_translated: bool = False
    """`true` also trains the teacher on back-translated text: the reverse teacher's translations of
    `monolingual-target` corpora as source, the text itself as target."""
