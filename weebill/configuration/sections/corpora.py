"""Settings of corpora, validation sets and test sets; importers add their own keys."""

from typing import Annotated, Any, Literal

from weebill.configuration.sections.scores import CorpusCleaning, CorpusTranslation
from weebill.corpus.importers import FromFiles, Importer
from weebill.corpus.importers.entries import IMPORTERS
from weebill.corpus.injected_noise import InjectedNoise
from weebill.settings import Chosen, Count, made_section, section


@section
class Sized:
    """Size of a corpus."""

    rows: Count | None = None
    """Approximate number of sentence pairs or lines in the corpus, for importers that read files. Only the estimate
    of disk and time uses it, and only if the size is otherwise unknown."""


@section
class Used:
    """Keys of every corpus, independent of its importer."""

    use: Literal["parallel", "monolingual", "monolingual-target"] = "parallel"
    """`parallel`: teachers learn from it, and students from the best of the teacher's 8 translations; `monolingual`:
    only a source side, which the teacher translates for the students; `monolingual-target`: only a target side, which
    the reverse teacher translates back."""
    cleaning: CorpusCleaning | None = None
    """Keys of `cleaning` for this corpus only."""
    back_translation: CorpusTranslation | None = None
    """Keys of `back_translation` for this corpus only."""
    distillation: CorpusTranslation | None = None
    """Scores of `distillation` for this corpus only."""
    noise: InjectedNoise | None = None
    """Deliberate damage to a parallel corpus, to test cleaning. The report shows how much damage was found, and
    measures every filter and score on it."""


def _of_corpora(importer: type[Importer]) -> type:
    """Make a class with the keys of an importer and the keys of every corpus."""
    bases = (importer, Used, Sized) if issubclass(importer, FromFiles) else (importer, Used)
    name = importer.__name__.replace("Importer", "Corpus")
    return made_section(name, importer.__doc__, bases=bases)


Corpus = Annotated[
    Any, Chosen("importer", {name: _of_corpora(one) for name, one in IMPORTERS.items()})
]
TextSet = Annotated[Any, Chosen("importer", IMPORTERS)]
