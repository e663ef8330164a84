"""BLEU by the language in which the sentences of a test set were first written (WNGT20 §3).

The other sentences are translations themselves, which are simpler than text that was first written in their language.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weebill.bleu import bleu
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.translation_file import Lines, check_lines
from weebill.evaluation.quality.translation_quality import TestSet, resampled


@dataclass(frozen=True)
class OriginQuality:
    """BLEU of a variant on the sentences of a test set that were first written in one language."""

    variant: str  # STUDENT/RECIPE/PRECISION
    test_set: str
    language: str  # "" if the test set does not know it
    score: float  # 0 to 100
    low: float  # bounds of the 95 % bootstrap interval
    high: float
    sentences: int
    signature: str  # sacreBLEU's, without the language
    test_set_sha256: str  # of the whole test set


def measure_by_language(
    variants: Mapping[Variant, Lines],
    test_set: TestSet,
    languages: Sequence[str],
    *,
    bootstrap: int,
    target: str,
) -> list[OriginQuality]:
    """Measure the translations of variants by original language, the language of most sentences first.

    languages: of each sentence of the test set. target: language code or tokenizer, as in `bleu`.
    Raises InputError if line counts differ.
    """
    references = test_set.references
    if len(languages) != len(references):
        raise InputError(
            f"test set '{test_set.name}': {len(references):,} pairs, but original languages of "
            f"{len(languages):,}; leave it out of evaluation.original_languages"
        )
    places = {
        language: [place for place, one in enumerate(languages) if one == language]
        for language, _ in Counter(languages).most_common()
    }
    rows = []
    for variant, lines in variants.items():
        check_lines(lines, references, f"{variant} on '{test_set.name}'")
        for language, chosen in places.items():
            ours, theirs = ([text[place] for place in chosen] for text in (lines, references))
            found, _ = resampled(bleu(target), ours, theirs, bootstrap)
            rows.append(
                OriginQuality(
                    str(variant),
                    test_set.name,
                    language,
                    found.score,
                    found.low,
                    found.high,
                    len(chosen),
                    found.signature,
                    test_set.sha256,
                )
            )
    return rows
