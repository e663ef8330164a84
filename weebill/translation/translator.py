"""Translation of text by a finished model, an ensemble, or a Hugging Face model, behind one interface."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weebill.errors import InputError
from weebill.files import read_json, sha256_file, sha256_text
from weebill.translation.model.folder import Model, load_model
from weebill.translation.model.vocabulary import Vocabulary
from weebill.translation.search import (
    Candidate,
    OnCut,
    Progress,
    SearchOptions,
    find_cuts,
    greedy,
    prepack,
    search,
)
from weebill.translation.search.cuts import log_cut


@dataclass(frozen=True)
class Hypothesis:
    """Translation; score = log p / length^length_normalisation; pieces: its ids without the end."""

    text: str
    score: float
    pieces: tuple[int, ...]


class TextTranslator(ABC):
    """Translator of sentences; an empty or blank one has the empty translation.

    Results are in the order of the input, whatever the batches.  progress: called with the number of sentences of
    each finished batch.

    on_cut: called with each sentence of more than `options.max_source_tokens` pieces, of which only the first
    ones are translated.  It logs a warning; a caller may replace it.
    positions: most pieces that the model can read, whatever the options; None: any number.
    """

    on_cut: OnCut = staticmethod(log_cut)
    positions: int | None = None

    @abstractmethod
    def nbest(
        self, sentences: Sequence[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Return the `options.nbest` best translations found for each sentence, best first, or fewer."""

    def translate(
        self,
        sentences: Sequence[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """Return the best translation of each sentence; a beam of 1 searches greedily."""
        found = self.nbest(sentences, replace(options, nbest=1), progress)
        return [hypotheses[0].text for hypotheses in found]


class PieceTranslator(TextTranslator):
    """Translator that searches over the pieces of a vocabulary; subclasses implement the search."""

    vocabulary: Vocabulary

    @abstractmethod
    def _greedy(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[int]]:
        """Return the pieces of each source's greedy translation without its end."""

    @abstractmethod
    def _search(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[Candidate]]:
        """Return the n best translations of each source, best first."""

    def translate(
        self,
        sentences: Sequence[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """Implement `TextTranslator`; greedy search keeps no scores and is faster."""
        if options.beam > 1:
            return super().translate(sentences, options, progress)
        sources = self._encode(sentences, options)
        return self.vocabulary.decode(self._greedy(sources, options, progress))

    def nbest(
        self, sentences: Sequence[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        found = self._search(self._encode(sentences, options), options, progress)
        return [_hypotheses(self.vocabulary, candidates) for candidates in found]

    def _encode(self, sentences: Sequence[str], options: SearchOptions) -> list[list[int]]:
        """Return the sentences' pieces, EOS last; report those that the search will crop."""
        sources = self.vocabulary.encode(list(sentences))
        for cut in find_cuts(sources, options):
            self.on_cut(cut)
        return sources


class NetworkTranslator(PieceTranslator):
    """Translator by Weebill's networks with one vocabulary, averaged as an ensemble."""

    def __init__(self, networks: Sequence, vocabulary: Vocabulary) -> None:
        self.networks = list(networks)
        self.vocabulary = vocabulary

    def _greedy(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[int]]:
        return greedy(self.networks, sources, options, progress)

    def _search(
        self, sources: list[list[int]], options: SearchOptions, progress: Progress | None
    ) -> list[list[Candidate]]:
        return search(self.networks, sources, options, progress)


def _hypotheses(vocabulary: Vocabulary, candidates: Sequence[Candidate]) -> list[Hypothesis]:
    """Return a search's candidates as text."""
    texts = vocabulary.decode([list(candidate.tokens) for candidate in candidates])
    return [
        Hypothesis(text, candidate.score, candidate.tokens)
        for candidate, text in zip(candidates, texts, strict=True)
    ]


def load_translator(
    folders: str | Path | Iterable[str | Path],
    device: str = "cpu",
    languages: tuple[str, str] | None = None,
    precision: str = "float32",
) -> TextTranslator:
    """Load the translator of one model folder, or of an ensemble of several with one vocabulary.

    A folder is Weebill's, of any precision, or a Hugging Face seq2seq model (alone, not in an ensemble).
    languages: those of input and output, for Hugging Face models of many.  precision: see `search.prepack`.
    Raises InputError where a folder is missing, damaged or no model, or vocabularies differ;
    ValueError where none is named.
    """
    paths = _paths(folders)
    foreign = [path for path in paths if is_hugging_face(path)]
    if foreign and len(paths) > 1:
        raise InputError(
            f"{foreign[0]}: a Hugging Face model cannot be part of an ensemble; name it alone"
        )
    if foreign:
        from weebill.translation.model.hugging_face import HuggingFaceTranslator  # slow to import

        return HuggingFaceTranslator(foreign[0], device, languages, precision)
    models = load_models(paths)
    networks = [model.network.to(device) for model in models]
    for network in networks:
        prepack(network, precision)
    return NetworkTranslator(networks, models[0].vocabulary)


def load_models(folders: str | Path | Iterable[str | Path]) -> list[Model]:
    """Load Weebill's model of a folder, or those of an ensemble.

    Raises InputError where a folder is missing, damaged or no model, or vocabularies differ;
    ValueError where none is named.
    """
    models = [load_model(path) for path in _paths(folders)]
    for model in models[1:]:
        if model.vocabulary.sha256 != models[0].vocabulary.sha256:
            raise InputError(
                f"{model.path}: its vocabulary {model.vocabulary.sha256[:8]}… is not that of "
                f"{models[0].path} ({models[0].vocabulary.sha256[:8]}…); an ensemble shares one"
            )
    return models


def _paths(folders: str | Path | Iterable[str | Path]) -> list[Path]:
    paths = [Path(folders)] if isinstance(folders, str | Path) else [Path(f) for f in folders]
    if not paths:
        raise ValueError("at least one model folder is needed")
    for path in paths:
        if not path.is_dir():
            raise InputError(f"{path}: no such model folder; check the path")
    return paths


def folder_hash(folder: str | Path) -> str:
    """Return the SHA-256 over names and bytes of a model folder's files, whatever kind of model it is."""
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    return sha256_text("".join(f"{path.name}:{sha256_file(path)}\n" for path in files))


def is_hugging_face(path: str | Path) -> bool:
    """Return True if config.json is that of a transformers model."""
    config = Path(path) / "config.json"
    if not config.is_file():
        return False
    values = read_json(config)
    return isinstance(values, dict) and "model_type" in values
