"""Table of training texts: the same student trained on fewer of the teachers' translations (WMT21 §3)."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.student_names import architecture_of, text_of
from weebill.experiment.training_texts import KINDS, corpora_of, learnt_kinds, training_texts
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, Row, Table
from weebill.report.tables.beside_papers import quantities as q
from weebill.report.tables.comparisons import (
    DIFFERENCE,
    RESAMPLED,
    SCORE,
    scores,
    tested,
    text_note,
)

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison

PAPER_COLUMNS = (q.score("wmt21", "bleu_wmt20"), q.score("wmt21", "bleu_wmt21"))


def count_pairs(paths: Sequence[str]) -> list[int]:
    """Count the kept rows of each corpus table."""
    from weebill.corpus.table import count_rows  # loads Arrow

    return list(map(count_rows, paths))


def training_texts_table(results: Results) -> Table:
    """Return a row for every text of every compared student, beginning with the first text."""
    config = results.config
    texts, pairs = training_texts(config), Counter()
    kinds = [kind for kind in learnt_kinds(config) for _ in corpora_of(config, kind)]
    for kind, count in zip(kinds, results.pairs, strict=True):
        pairs[kind] += count
    columns = [
        *Column.texts(student="Student", text="Training text"),
        *Column.grouped("Pairs", **{kind.replace("-", "_"): kind for kind in KINDS}),
        *SCORE,
        *DIFFERENCE,
    ]
    for one in PAPER_COLUMNS:
        columns += Column.grouped(
            one.title, **{f"{one.key}_{side}": side for side in ("ours", "paper")}
        )
    printed = {row["model"]: row for row in papers.load_table("wmt21", 1).to_dict("records")}

    def row(name: str, bleu: list[str], one: "Comparison | None" = None) -> Row:
        variant = Variant.parse(name)
        text = text_of(variant.student) or next(iter(texts))
        cells = [architecture_of(variant.student), text]
        cells += [f"{pairs[kind]}" if kind in texts[text] else "" for kind in KINDS] + bleu
        cells += tested(one) if one else [""] * 4
        whole = set(texts[text]) == set(KINDS)
        paper = printed.get(lookup.row_of(results, variant, "wmt21")) if whole else None
        for quantity in PAPER_COLUMNS:
            cells += [quantity.ours(results, variant), quantity.paper(paper) if paper else ""]
        return Row.of(cells, baseline=one is None)

    rows = {}
    for one in results.texts:
        if one.baseline not in rows:
            rows[one.baseline] = row(one.baseline, scores(one, "baseline_"))
        rows[one.variant] = row(one.variant, scores(one), one)
    return Table(
        "training_texts",
        "Training texts",
        "Students trained on text of several kinds: the teacher's translations of parallel and of source-side "
        "monolingual (forward) text, target-side text that the reverse teacher translated back (backward), and "
        "the teacher's translations of that (backward-forward).",
        columns,
        list(rows.values()),
        (
            "BLEU differences are to the same student trained on the first text, above 0 where the other text is "
            f"better; p and the 95 % interval of a difference: {RESAMPLED}",
            f"{text_note(results.texts[0])} In the paper's columns: means over its test sets' counterparts.",
            "WMT21 prints its students trained on all four kinds, none of those trained on fewer.",
        ),
    )
