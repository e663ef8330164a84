"""Table of training texts: the same student trained on less of the teachers' translations (WMT21 §3)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from weebill.evaluation.measurement import Variant
from weebill.experiment.student_names import architecture_of, text_of
from weebill.experiment.training_texts import KINDS, corpora_of, learnt_kinds, training_texts
from weebill.report import papers
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import Column, Row, Table, fixed
from weebill.report.tables.beside_papers import quantities as q
from weebill.report.tables.comparisons import DIFFERENCE, SCORE, differences, text_note

if TYPE_CHECKING:
    from weebill.evaluation.quality.comparison import Comparison

PAPER_COLUMNS = (q.score("wmt21", "bleu_wmt20"), q.score("wmt21", "bleu_wmt21"))


def count_pairs(paths: Sequence[str]) -> list[int]:
    """Count the kept rows of each corpus table."""
    from weebill.corpus.table import count_rows  # loads Arrow

    return list(map(count_rows, paths))


def training_texts_table(results: Results) -> Table:
    """Return a row for every text of every compared student, the first text first."""
    texts, pairs = training_texts(results.config), _pairs(results)
    columns = [
        *Column.texts(student="Student", text="Training text"),
        *Column.grouped("Pairs", **{kind.replace("-", "_"): kind for kind in KINDS}),
        *SCORE,
        *DIFFERENCE,
    ]
    for quantity in PAPER_COLUMNS:
        key = quantity.key
        columns += Column.grouped(
            quantity.title, **{f"{key}_{side}": side for side in ("ours", "paper")}
        )
    rows, seen = [], set()
    for one in results.texts:
        if one.baseline not in seen:
            seen.add(one.baseline)
            scores = (one.baseline_score, one.baseline_low, one.baseline_high)
            rows.append(_row(results, one.baseline, scores, None, texts, pairs))
        rows.append(_row(results, one.variant, (one.score, one.low, one.high), one, texts, pairs))
    return Table(
        "training_texts",
        "Training texts",
        "Students trained on text of several kinds: the teacher's translations of parallel and of source-side "
        "monolingual (forward) text, target-side text that the reverse teacher translated back (backward), and "
        "the teacher's translations of that (backward-forward).",
        columns,
        rows,
        (
            "BLEU differences are to the same student trained on the first text, above 0 where it is better; p: "
            "of the difference, by paired bootstrap resampling, as its 95 % interval.",
            f"{text_note(results.texts[0])} In the paper's columns: means over its test sets' counterparts.",
            "WMT21 prints its students trained on all four kinds, none of those trained on fewer.",
        ),
    )


def _pairs(results: Results) -> dict[str, int]:
    """Count the sentence pairs of each kind of text, summed over the tables of its corpora."""
    config = results.config
    pairs = dict.fromkeys(KINDS, 0)
    kinds = [kind for kind in learnt_kinds(config) for _ in corpora_of(config, kind)]
    for kind, count in zip(kinds, results.pairs, strict=True):
        pairs[kind] += count
    return pairs


def _row(
    results: Results,
    name: str,
    scores: Sequence[float],
    one: "Comparison | None",
    texts: Mapping[str, Sequence[str]],
    pairs: Mapping[str, int],
) -> Row:
    variant = Variant.parse(name)
    text = text_of(variant.student) or next(iter(texts))
    cells = [architecture_of(variant.student), text]
    cells += [f"{pairs[kind]}" if kind in texts[text] else "" for kind in KINDS]
    cells += [fixed(score, 2) for score in scores]
    cells += [*differences(one), fixed(one.p_value, 3)] if one else [""] * 4
    printed = _printed(results, variant) if set(texts[text]) == set(KINDS) else None
    for quantity in PAPER_COLUMNS:
        cells += [quantity.ours(results, variant), quantity.paper(printed) if printed else ""]
    return Row.of(cells, baseline=one is None)


def _printed(results: Results, variant: Variant) -> Mapping[str, str] | None:
    """Return the row of WMT21's table 1 that a student corresponds to, None if there is none."""
    name = lookup.row_of(results, variant, "wmt21")
    rows = papers.load_table("wmt21", 1).to_dict("records")
    return next((row for row in rows if row["model"] == name), None)
