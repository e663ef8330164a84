"""Coverage and cost of a lexical shortlist: the pieces that it lacks, its columns, and BLEU."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weebill.bleu import bleu
from weebill.evaluation.measurement import Variant, software_versions
from weebill.evaluation.quality.translation_file import Lines, check_lines
from weebill.evaluation.quality.translation_quality import TestSet, score_both
from weebill.files import sha256_file

if TYPE_CHECKING:  # tables read measurements without PyTorch
    from weebill_runtime.options import SearchOptions
    from weebill_runtime.shortlist import Shortlist
    from weebill_runtime.vocabulary import AnyVocabulary

Pieces = Sequence[Sequence[int]]  # of each sentence


@dataclass(frozen=True)
class Coverage:
    """Means over batches as the search forms them: of one sentence, or of several, which share their columns."""

    batch_size: int
    columns: float  # pieces that a translation may contain
    reference: float  # share of the references' pieces among them, 0 to 1; 1 if there are none
    own: float  # the same share for the model's translations with the whole vocabulary


@dataclass(frozen=True)
class ShortlistMeasurement:
    """Variant with a shortlist on a test set, compared with the same model without one."""

    variant: str  # STUDENT/RECIPE/PRECISION
    test_set: str
    sentences: int
    vocabulary: int  # pieces of translations
    bytes: int  # of the shortlist's file
    single: Coverage  # sentence by sentence
    batched: Coverage
    unchanged: float  # share of the sentences with the same translation
    bleu_without: float
    bleu: float
    low: float  # bounds of its 95 % bootstrap interval
    high: float
    p_value: float  # of the difference, paired bootstrap
    signature: str  # sacreBLEU's
    test_set_sha256: str
    model_sha256: str
    shortlist_sha256: str
    seed: int  # the experiment's
    versions: dict[str, str]

    def __post_init__(self) -> None:
        for name in ("single", "batched"):
            if isinstance(read := getattr(self, name), dict):  # from a file
                object.__setattr__(self, name, Coverage(**read))


def measure_shortlist(
    variant: Variant,
    test_set: TestSet,
    shortlist: str | Path,
    vocabulary: "AnyVocabulary",
    translations: Lines,
    without: Lines,
    *,
    batch_size: int,
    bootstrap: int,
    target: str,
    model_sha256: str,
    seed: int,
) -> ShortlistMeasurement:
    """Measure coverage and BLEU of a variant with a shortlist on a test set.

    translations: made with the shortlist, in batches of `batch_size`.  without: made with the whole vocabulary.
    Raises InputError if the line counts differ or the shortlist belongs to another vocabulary.
    """
    from weebill_runtime.options import SearchOptions
    from weebill_runtime.shortlist import Shortlist

    references = test_set.references
    check_lines(without, references, f"{variant} on '{test_set.name}', without a shortlist")
    check_lines(translations, references, "scoring")
    chosen = Shortlist.load(shortlist, vocabulary.sizes, vocabulary.sha256)
    texts = ("source", test_set.sources), ("target", references), ("target", without)
    pieces = [vocabulary.encode_input(list(text), side) for side, text in texts]
    searches = (SearchOptions(batch_size=size) for size in (1, batch_size))
    single, batched = (coverage(chosen, *pieces, search) for search in searches)
    found, other, paired = score_both(bleu(target), translations, without, references, bootstrap)
    return ShortlistMeasurement(
        variant=str(variant),
        test_set=test_set.name,
        sentences=len(translations),
        vocabulary=len(vocabulary.target),
        bytes=Path(shortlist).stat().st_size,
        single=single,
        batched=batched,
        unchanged=sum(map(str.__eq__, translations, without)) / len(without),
        bleu_without=other.score,
        bleu=found.score,
        low=found.low,
        high=found.high,
        p_value=paired.p_value,
        signature=found.signature,
        test_set_sha256=test_set.sha256,
        model_sha256=model_sha256,
        shortlist_sha256=sha256_file(shortlist),
        seed=seed,
        versions=software_versions(),
    )


def coverage(
    shortlist: "Shortlist",
    sources: Pieces,
    references: Pieces,
    own: Pieces,
    search: "SearchOptions",
) -> Coverage:
    """Measure the shares of two texts that the columns of their batches cover.

    sources, references, own: pieces of each sentence; the last one is the end, which does not count.
    search: crops the sources and makes the batches, with its `batch_size`.
    """
    # The search chooses columns by the pieces it reads: cropped pieces add none.
    sources = [search.crop(source) for source in sources]
    batches = search.batches([len(source) - 1 for source in sources])
    columns, held, total = 0, [0, 0], [0, 0]
    for batch in batches:
        found = set(shortlist.columns(piece for i in batch for piece in sources[i]).tolist())
        columns += len(found)
        for k, text in enumerate((references, own)):
            pieces = [piece for i in batch for piece in text[i][:-1]]
            held[k] += sum(piece in found for piece in pieces)
            total[k] += len(pieces)
    shares = [part / whole if whole else 1.0 for part, whole in zip(held, total, strict=True)]
    return Coverage(search.batch_size, columns / max(1, len(batches)), *shares)
