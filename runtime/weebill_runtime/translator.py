"""Translation of text by a student: a model folder in the compiled engine, in one thread or several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partialmethod
from itertools import chain, islice
from pathlib import Path
from threading import Event, Lock
from typing import Self

import numpy as np

from weebill_runtime.compiled import Engine, best_instruction_set, check_instruction_set, packed
from weebill_runtime.errors import InputError
from weebill_runtime.folder import read_folder
from weebill_runtime.lines import checked_iterable, checked_lines
from weebill_runtime.long_lines import LineTranslator
from weebill_runtime.options import Cut, SearchOptions, check_count
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.student import Student
from weebill_runtime.text_translator import Hypothesis, PieceTranslator, Progress
from weebill_runtime.vocabulary import AnyVocabulary

WINDOW = 4096  # lines of a stream that are sorted by length and translated together
FASTEST = SearchOptions(batch_size=None)  # greedy, in batches of the engine's choice


class StudentTranslator(PieceTranslator):
    """Student with its vocabulary; students: equal copies, one for each thread."""

    def __init__(self, students: Sequence[Student], vocabulary: AnyVocabulary, isa: str):
        self.students, self.vocabulary, self.isa = list(students), vocabulary, isa

    @property
    def student(self) -> Student:
        """The first of the students.  Raises InputError if the translator is closed."""
        if not self.students:
            raise InputError("the translator is closed; load it again")
        return self.students[0]

    @property
    def shortlist(self) -> Shortlist | None:
        """Pieces that a translation may contain; None: any piece."""
        return self.student.shortlist

    def _shared(self, work: Callable, sources: Sequence, *arguments) -> list:
        """Divide the sources among the threads, long and short ones evenly; return results in the input's order."""
        first, students, count = self.student, self.students, len(self.students)
        if count == 1:  # do not start a thread for each single sentence
            with first.turn:
                return work(first, sources, *arguments)
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
        hands = [order[thread::count] for thread in range(count)]
        shares = [[sources[index] for index in hand] for hand in hands]
        ended = Event()

        def do(one: Student, part: Sequence) -> list:
            with one.turn:  # after Ctrl-C, a thread of the last call may still be in its batch
                one.ended = ended
                return work(one, part, *arguments)

        with ThreadPoolExecutor(count) as threads:
            try:
                try:
                    parts = threads.map(do, students, shares)
                except RuntimeError as error:  # errors of the work itself come with its results
                    raise InputError(f"threads: {count} cannot be started; use fewer") from error
                parts = list(parts)
            except BaseException:  # also Ctrl-C, which may come before all threads are started
                ended.set()  # they end with their batch
                raise
        results = dict(zip(chain(*hands), chain(*parts), strict=True))
        return [results[index] for index in range(len(sources))]

    _greedy = partialmethod(_shared, Student.translate)

    def _search(self, *_: object) -> list:
        raise InputError(
            "beams, samples and scores need PyTorch; load the model by `weebill.load`, which has them"
        )

    _force_decode = _search


class Translator(LineTranslator):
    """Translator of text by a student, for a program: `translate(lines)`, or `stream(lines)` for endless input.

    Lines that are too long are split at the ends of their sentences.  As a context manager it frees its memory at the
    end.  Calls from several threads wait for each other.

    Args:
        folder: a model folder, of any precision.
        threads: number of threads that translate in parallel, each with memory of its own for its layers.
        shortlist: file of pieces to which translations are restricted, faster for large vocabularies.
        isa: instruction set, one of `weebill_runtime.available()`; None: the fastest here.

    Raises:
        InputError: if a file is missing, damaged or of another vocabulary, or the instruction set is not available.

    """

    def __init__(
        self,
        folder: str | Path,
        *,
        threads: int = 1,
        shortlist: str | Path | None = None,
        isa: str | None = None,
    ) -> None:
        check_count("threads", threads)
        found = read_folder(folder)
        if isa is None:
            isa = best_instruction_set(found.weights)
        else:
            check_instruction_set(isa)
        vocabulary, chosen = found.vocabulary, None
        if shortlist is not None:
            chosen = Shortlist.load(shortlist, vocabulary.sizes, vocabulary.sha256)
        kind, parts = packed(found.weights, isa)
        architecture = found.weights.architecture
        students = [Student([Engine(kind, parts)], architecture, chosen) for _ in range(threads)]
        self._take(StudentTranslator(students, vocabulary, isa))

    @classmethod
    def around(cls, translator: StudentTranslator) -> Self:
        """Return a translator of lines that passes their sentences to another translator."""
        found = cls.__new__(cls)
        found._take(translator)
        return found

    def _take(self, translator: StudentTranslator) -> None:
        super().__init__(translator)
        self._lock = Lock()

    def sharing(self, on_cut: Callable[[Cut], None]) -> Self:
        """Implement `TextTranslator`."""
        other = super().sharing(on_cut)
        other._lock = Lock()
        return other

    def translate(
        self,
        sentences: Iterable[str],
        options: SearchOptions = FASTEST,
        progress: Progress | None = None,
    ) -> list[str]:
        """Implement `TextTranslator`; the default is greedy search in batches of the engine's choice."""
        with self._lock:
            return super().translate(sentences, options, progress)

    def nbest(
        self, sentences: Iterable[str], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Implement `TextTranslator`."""
        with self._lock:
            return super().nbest(sentences, options, progress)

    def scores(
        self,
        sentences: Iterable[str],
        translations: Iterable[str],
        options: SearchOptions = SearchOptions(),
    ) -> np.ndarray:
        """Implement `TextTranslator`."""
        with self._lock:
            return super().scores(sentences, translations, options)

    def stream(
        self, lines: Iterable[str], options: SearchOptions = FASTEST, window: int = WINDOW
    ) -> Iterator[str]:
        """Yield the translation of each line, after reading `window` lines at a time; 1 answers each line at once."""
        check_count("window", window)
        remaining, first = iter(checked_iterable("lines", lines)), 1
        while some := checked_lines("lines", islice(remaining, window), first):
            first += len(some)
            yield from self.translate(some, options)

    def close(self) -> None:
        """Free the memory; the translator cannot be used any more."""
        self.translator.students.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
