"""Two vocabularies, one for each language, for pairs of languages in different scripts."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weebill.corpus.normalisation import Normalisation
from weebill.experiment.corpora import Side
from weebill.experiment.vocabularies import SOURCE_FILE, TARGET_FILE
from weebill.translation.model.vocabulary import Vocabulary


@dataclass(frozen=True)
class VocabularyPair:
    """Vocabulary of sources and vocabulary of translations, with what both have in common with one `Vocabulary`."""

    source: Vocabulary
    target: Vocabulary

    @property
    def normalisation(self) -> Normalisation | None:
        """Return the normalisation of both sides, which each vocabulary records."""
        return self.target.normalisation

    def encode_input(self, sentences: list[str], side: Side = "source") -> list[list[int]]:
        """Return the piece ids of each sentence of a side, as `Vocabulary.encode_input` does."""
        return getattr(self, side).encode_input(sentences, side)

    @property
    def sha256(self) -> str:
        """Return the hash of both, which identifies the pair."""
        return hashlib.sha256(f"{self.source.sha256} {self.target.sha256}".encode()).hexdigest()

    @property
    def sizes(self) -> tuple[int, int | None]:
        """Return `vocabulary` and `source_vocabulary` of an `Architecture`."""
        return len(self.target), len(self.source)

    @property
    def files(self) -> dict[str, Vocabulary]:
        """Return the vocabularies, the target's first, by the names of their files in a model folder."""
        return {TARGET_FILE: self.target, SOURCE_FILE: self.source}

    @property
    def about(self) -> dict[str, Any]:
        """Return the section of config.json."""
        return {**self.target.about, "source": self.source.about}


AnyVocabulary = Vocabulary | VocabularyPair


def copy_vocabulary(vocabulary: AnyVocabulary, folder: Path) -> None:
    """Copy the file of a vocabulary, or those of a pair, into a folder."""
    for name, side in vocabulary.files.items():
        shutil.copyfile(side.path, folder / name)


def read_vocabulary(target: str | Path, source: str | Path | None = None) -> AnyVocabulary:
    """Read the vocabulary of both languages or, if `source` is another file, of each.  Raises InputError."""
    if source is None:
        return Vocabulary(target)
    return VocabularyPair(Vocabulary(source), Vocabulary(target))
