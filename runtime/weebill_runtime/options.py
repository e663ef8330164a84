"""Options of a search, its results, its batches, and cuts of sentences that are too long for it."""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral

from weebill_runtime.errors import InputError
from weebill_runtime.vocabulary import EOS

BATCH_SIZE = 32
TEMPERATURES = (1e-6, 1e6)  # beyond, logits / temperature overflow in float32, or are all equal
SEEDS = 2**63  # a seed is hashed as a signed number of 64 bits
STRONGEST_NORMALISATION = 10  # far above any in use; length to this power still fits into float64


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and value >= 1


def check_count(name: str, value: int) -> None:
    """Raise InputError, which mentions `name`, unless a program's value is a whole number of at least 1."""
    if not _is_count(value):
        raise InputError(f"{name}: found {value!r}, expected a number of at least 1")


@dataclass(frozen=True)
class Sampling:
    """Options of sampling.

    temperature: divides the logits.  epsilon: pieces less probable than this are never drawn (Hewitt et al. 2022);
    0 allows all.  seed: seed of the random numbers.
    Raises ValueError if temperature is not in [1e-6, 1e6], epsilon not in [0, 1), or seed not in [0, 2^63).
    """

    temperature: float = 1.0
    epsilon: float = 0.02
    seed: int = 1

    def __post_init__(self) -> None:
        low, high = TEMPERATURES
        if not low <= self.temperature <= high:
            message = f"temperature must be from {low:g} to {high:g}, not {self.temperature}"
            raise ValueError(message)
        if not 0 <= self.epsilon < 1:
            raise ValueError(f"epsilon must be at least 0 and below 1, not {self.epsilon}")
        if not 0 <= self.seed < SEEDS:
            raise ValueError(f"seed must be at least 0 and below {SEEDS}, not {self.seed}")


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search; length normalisation and cropping are the papers'.

    Args:
        beam: number of hypotheses followed; 1 is greedy.
        nbest: number of hypotheses returned, at most `beam`.
        length_normalisation: a hypothesis scores log p / length^this, end included (0: log p); at most 10.
        length_factor: a translation has at most length_factor · source + length_constant pieces, end included.
        length_constant: see `length_factor`.
        max_source_tokens: longer inputs are cropped.
        batch_size: largest number of sentences in a batch; None: the runtime chooses the fastest number, a GPU
            chooses `batch_tokens` too, and other engines take 32.
        batch_tokens: largest number of source pieces, with padding, in a batch.
        allow_unknown: allow UNK in translations; ignored by Hugging Face models.
        sampling: draw `nbest` translations instead of searching for the best; `beam` is ignored.

    Raises:
        ValueError: if `nbest` exceeds `beam`, a count is no whole number of at least 1, length normalisation is not
            in [0, 10], or a number of the length limit is not finite.

    """

    beam: int = 1
    nbest: int = 1
    length_normalisation: float = 1.0
    length_factor: float = 1.5
    length_constant: int = 10
    max_source_tokens: int = 200
    batch_size: int | None = 32
    batch_tokens: int = 4096
    allow_unknown: bool = False
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        for name in ("beam", "nbest", "max_source_tokens", "batch_size", "batch_tokens"):
            found = getattr(self, name)
            if not _is_count(found) and (name, found) != ("batch_size", None):
                raise ValueError(f"{name} must be a whole number of at least 1, not {found!r}")
        if not math.isfinite(self.length_factor):
            raise ValueError(f"length_factor must be a finite number, not {self.length_factor!r}")
        if not isinstance(self.length_constant, Integral):
            raise ValueError(
                f"length_constant must be a whole number, not {self.length_constant!r}"
            )
        if not 0 <= self.length_normalisation <= STRONGEST_NORMALISATION:
            raise ValueError(
                f"length_normalisation must be from 0 to {STRONGEST_NORMALISATION}, not {self.length_normalisation}"
            )
        if self.nbest > self.beam and self.sampling is None:
            raise ValueError(f"nbest {self.nbest} needs a beam of at least {self.nbest}")

    def batches(self, lengths: Sequence[int]) -> list[list[int]]:
        """Divide sources of these lengths, ends excluded, by `length_sorted_batches`."""
        return length_sorted_batches(lengths, self.batch_size or BATCH_SIZE, self.batch_tokens)

    def crop(self, source: Sequence[int]) -> list[int]:
        """Crop a source, whose last piece is EOS, to `max_source_tokens` pieces before it."""
        return [*source[:-1][: self.max_source_tokens], EOS]

    def limit(self, source_tokens: int) -> int:
        """Return the largest number of pieces, end included, of a translation of `source_tokens` pieces."""
        return max(1, math.ceil(self.length_factor * source_tokens) + self.length_constant)


@dataclass(frozen=True)
class Candidate:
    """Translation in pieces without its end; score = log p / length^length_normalisation."""

    tokens: tuple[int, ...]
    score: float


def length_sorted_batches(
    lengths: Sequence[int], batch_size: int, batch_tokens: int
) -> list[list[int]]:
    """Return indices of non-empty sentences in batches, longest first, equal lengths in input order.

    A batch holds at most `batch_size` sentences and `batch_tokens` pieces with padding, but at least one sentence.
    """
    batches: list[list[int]] = []
    room = 0  # number of sentences that the last batch still takes
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not lengths[index]:
            break
        if not room:
            batches.append([])
            room = max(1, min(batch_size, batch_tokens // lengths[index]))
        batches[-1].append(index)
        room -= 1
    return batches


@dataclass(frozen=True)
class Cut:
    """Sentence that was cut: only its beginning is translated.

    sentence: its place in the input, from 0.  pieces: its length.  kept: number of first pieces that are translated.
    """

    sentence: int
    pieces: int
    kept: int

    def __str__(self) -> str:
        return f"{self.pieces} pieces, cut to the first {self.kept}"


def find_cuts(sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Cut]:
    """Return the sources, pieces with EOS last, that `options.crop` shortens; EOS is not counted."""
    most = options.max_source_tokens
    lengths = [len(source) - 1 for source in sources]
    return [Cut(number, length, most) for number, length in enumerate(lengths) if length > most]


def cut_logger(place: str) -> Callable[[Cut], None]:
    """Return a function that logs each cut as a warning, as `PLACE` and the line's number, from 1."""
    return lambda cut: logging.warning("%s%d: %s", place, cut.sentence + 1, cut)


def ignore_cut(cut: Cut) -> None:
    """Do nothing: for timing, because other jobs translate the same sentences and log their cuts."""


def log_cut_count(place: str, cuts: int, sentences: int, kept: int) -> None:
    """Log the number of a text's sentences that were cut to `kept` pieces, if any, in one line."""
    if cuts:
        logging.warning(
            f"{place}: {cuts:,} of {sentences:,} sentences have more than {kept} pieces, cut to the first {kept}"
        )
