"""Text in, text out by the runtime: a finished student's folder as a `TextTranslator`."""

import logging
from collections.abc import Sequence
from pathlib import Path

from goldcrest.errors import InputError
from goldcrest.runtime.engines import fits_extension
from goldcrest.runtime.extension import PORTABLE, available, compiler
from goldcrest.runtime.shortlist import Shortlist
from goldcrest.runtime.translator import Runtime
from goldcrest.translation.folder import load_model
from goldcrest.translation.network import Translator
from goldcrest.translation.search import Progress, SearchOptions
from goldcrest.translation.translator import Hypothesis, TextTranslator, hypotheses
from goldcrest.translation.vocabulary import Vocabulary


class RuntimeTranslator(TextTranslator):
    """A student in the runtime, with its vocabulary."""

    def __init__(self, runtime: Runtime, vocabulary: Vocabulary, isa: str):
        self.runtime, self.vocabulary, self.isa = runtime, vocabulary, isa

    def translate(
        self,
        sentences: Sequence[str],
        options: SearchOptions = SearchOptions(),
        progress: Progress | None = None,
    ) -> list[str]:
        """See `TextTranslator`; greedy search keeps no scores and is faster."""
        if options.beam > 1:
            return super().translate(sentences, options, progress)
        sources = self.vocabulary.encode(list(sentences))
        return self.vocabulary.decode(self.runtime.translate(sources, options, progress))

    def nbest(
        self, sentences: Sequence[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """See `TextTranslator`."""
        sources = self.vocabulary.encode(list(sentences))
        found = self.runtime.search(sources, options, progress)
        return [hypotheses(self.vocabulary, candidates) for candidates in found]


def load_runtime(
    folder: str | Path, isa: str | None = None, shortlist: str | Path | None = None
) -> RuntimeTranslator:
    """The translator of a finished student's folder.

    isa: an instruction set of `extension` or `portable`; without, the fastest that this machine and the
    student allow.  shortlist: a file of `Shortlist.save`.
    Raises InputError where a file is missing, damaged or of another vocabulary, or the instruction set
    cannot be had.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path}: no such model folder; check the path")
    model = load_model(path)
    isa = isa or best_isa(model.network)
    vocabulary, chosen = model.vocabulary, None
    if shortlist is not None:
        chosen = Shortlist.load(shortlist, len(vocabulary), vocabulary.sha256)
    return RuntimeTranslator(Runtime(model.network, isa, chosen), vocabulary, isa)


def best_isa(network: Translator) -> str:
    """The fastest way to run a network here; `portable` where the extension cannot be compiled or hold it."""
    found = available()
    if not found:
        reason = "this processor has none of its instruction sets"
    elif not compiler():
        reason = "there is no C++ compiler to build it (Debian: apt install g++)"
    elif not fits_extension(network):
        reason = "it cannot hold this student (its width, or weights left in float32)"
    else:
        return found[0]
    logging.warning("the compiled runtime is left out, PyTorch translates: %s", reason)
    return PORTABLE
