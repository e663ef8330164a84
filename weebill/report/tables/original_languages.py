"""Table of BLEU by the original language of the test sets' sentences (WNGT20 §3)."""

from weebill.evaluation.measurement import Variant
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results, first
from weebill.report.table import Cell, Column, Row, Table, fixed

PAPER = (
    "WNGT20 §3: on WMT16, its teacher has 42.4 BLEU on sentences first written in English and 42.2 on those first "
    "written in German, its student Base 42.5 and 35.6; it trained students on the teacher's translations alone."
)
TRANSLATIONS = (
    "What was not first written in the source language is a translation itself, and its reference the original: "
    "BLEU of two original languages is of other sentences, so compare models within a row's language."
)


def original_languages_table(results: Results) -> Table:
    """Return a row for every variant, test set and original language, with its difference to the teacher."""
    teacher = lookup.teacher(results)
    parts = dict.fromkeys((one.test_set, one.language) for one in results.origins)
    rows = []
    for variant in lookup.variants(results):
        for test_set, language in parts:
            one = _quality(results, variant, test_set, language)
            if one is None:
                continue
            base = _quality(results, teacher, test_set, language) if teacher else None
            shown = [fixed(row.score, 2) if row else "" for row in (one, base)]
            is_base = variant == teacher
            cells = [str(variant), test_set, language or "unknown", f"{one.sentences:,}"]
            cells.append(Cell.compared(*shown, "none" if is_base else "difference"))
            cells += [fixed(one.low, 2), fixed(one.high, 2)]
            rows.append(Row.of(cells, baseline=is_base))
    signatures = sorted({one.signature for one in results.origins})
    hashes = {one.test_set: one.test_set_sha256 for one in results.origins}
    return Table(
        "original_languages",
        "BLEU by original language",
        "BLEU on the sentences of a test set that were first written in each language, as sacreBLEU's --origlang.",
        [
            *Column.texts(variant="Variant", test_set="Test set", language="First written in"),
            Column("sentences", "Sentences"),
            Column("bleu", "BLEU", deltas=True),
            *Column.grouped("BLEU, 95 %", bleu_low="from", bleu_high="to"),
        ],
        rows,
        [
            "In brackets: against the teacher on the same sentences. Intervals: bootstrap, 95 %.",
            TRANSLATIONS,
            PAPER,
            *(f"Signature of BLEU: {signature}" for signature in signatures),
            *(f"Test set {name}: SHA-256 {digest}" for name, digest in hashes.items()),
        ],
    )


def _quality(results: Results, variant: Variant, test_set: str, language: str):
    wanted = {"variant": str(variant), "test_set": test_set, "language": language}
    return first(results.origins, **wanted)
