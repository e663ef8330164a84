"""The note of an export about its input: what the vocabulary's own normalizer cannot do."""

from weebill.corpus.normalisation import Normalisation

NAME = "README.md"


def input_note(normalisation: Normalisation | None) -> str:
    """Return a paragraph about the input of a model, empty if its vocabulary records no normalisation."""
    if normalisation is None:
        return ""
    source = normalisation.source
    note = (
        "Input: `weebill translate` normalises it like the training text. Other programs only replace the characters "
        "that the normalizer in `vocab.spm` knows; without a knowledge of their neighbours it keeps all joiners. "
    )
    if source.punctuation == "moses":
        note += (
            f"`sacremoses -l {source.language} normalize` does the rest: spaces around punctuation, and the order of "
            "quotes and full stops."
        )
    else:
        note += "Typographic punctuation is kept."
    return f"{note}\n"
