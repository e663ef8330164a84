"""Note of an export about its input: the limits of the vocabulary's own normalizer."""

from pathlib import Path

from weebill_runtime.names import TARGET_FILE
from weebill_runtime.normalisation import Normalisation
from weebill_runtime.vocabulary import AnyVocabulary, copy_vocabulary

NAME = "README.md"


def input_note(normalisation: Normalisation | None, vocabulary: str = TARGET_FILE) -> str:
    """Return a paragraph about the input of a model, empty if its vocabulary records no normalisation."""
    if normalisation is None:
        return ""
    source = normalisation.source
    note = (
        "Input: `weebill translate` normalises it like the training text. Other programs only replace the characters "
        f"that the normalizer in `{vocabulary}` knows; without a knowledge of their neighbours it keeps all joiners. "
    )
    if source.punctuation == "moses":
        note += (
            f"`sacremoses -l {source.language} normalize` does the rest: spaces around punctuation, and the order of "
            "quotes and full stops."
        )
    else:
        note += "Typographic punctuation is kept."
    return f"{note}\n"


def copy_with_note(vocabulary: AnyVocabulary, folder: Path) -> None:
    """Copy the files of a vocabulary into the folder of an export, with the note if there is one."""
    copy_vocabulary(vocabulary, folder)
    if note := input_note(vocabulary.normalisation):
        (folder / NAME).write_text(note, encoding="utf-8")
