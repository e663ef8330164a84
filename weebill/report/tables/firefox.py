"""Table of a published student of Firefox and the variants made from it, in Bergamot and in our engine."""

from collections.abc import Mapping
from typing import Any

from weebill.evaluation.measurement import versions_line
from weebill.files import MIB
from weebill.report.results import Results
from weebill.report.table import Cell, Column, Row, Table, fixed, signed, three_digits

METRICS = {"bleu": "BLEU", "chrf": "chrF2"}
ENGINES = ("bergamot", "Weebill")
MISSING = "not measured"


def firefox_table(results: Results) -> Table:
    """Return a row for each student and engine: size of its files, speed, quality, equal alignments and kept tags."""
    [measured] = results.firefox
    aligned = {one["variant"]: one for one in results.alignments}
    first, *_ = measured["rows"]
    columns = [
        *Column.texts(student="Student", engine="Engine"),
        *Column.grouped("Files, MiB", mib="plain", gzip_mib="gzip"),
        Column("words_per_second", "Words/s, 1 core", deltas=True),
    ]
    for key, metric in METRICS.items():
        columns += [Column(key, metric)]
        more = {f"{key}_difference": "", f"{key}_low": "from", f"{key}_high": "to"}
        columns += Column.grouped(f"{metric} against the published", **more)
    columns += [
        Column("alignments", "Equal alignments, %"),
        *Column.grouped("Pages, %", tags="all tags", places="same places"),
    ]
    rows = []
    for row in measured["rows"]:
        for engine in ENGINES:
            if engine in row["engines"] or "refusal" not in row:
                rows.append(_row(row, engine, first, aligned.get(row["name"])))
    refused = {row["refusal"] for row in measured["rows"] if "refusal" in row}
    notes = [
        "In brackets: speed against the published student's in the same engine. Differences of scores have their "
        "95 % interval, by paired bootstrap resampling.",
        *_agreement_notes(results),
        "Pages: lines of HTML with a bold word, a link and a slanted word, translated by Bergamot. All tags: lines "
        "whose translation has the tags of the source. Same places: of the lines whose text both students translate "
        "alike, those with equal pages.",
        *(
            f"Our engine alone, because Firefox's files cannot hold it: {one}."
            for one in sorted(refused)
        ),
        f"{measured['hardware']}; {versions_line(measured['versions'])}.",
    ]
    if not any("bergamot" in row["engines"] for row in measured["rows"]):
        notes.insert(
            0, "Bergamot: not measured, as its environment is missing; `make opponents` makes it."
        )
    return Table(
        "firefox",
        "A published student, before and after",
        "A published student of Firefox and the students made from it, in int8. Bergamot and our engine translate "
        "from the same files, where Firefox's files can hold the student.",
        columns,
        rows,
        notes,
    )


def _agreement_notes(results: Results) -> list[str]:
    lines = {one["lines"] for one in results.alignments}
    return [
        f"Equal alignments: of the published student's translations of {count:,} lines, target pieces for which the "
        "guided head looks most at the same source piece as the published student's."
        for count in sorted(lines)
    ]


def _row(row: Mapping[str, Any], engine: str, first: Mapping[str, Any], aligned: Any) -> Row:
    found = row["engines"].get(engine)
    sizes = dict(row.get("bytes", {}))
    packed = sizes.pop("gzip", None)
    mib = (sum(sizes.values()) / MIB, packed / MIB) if sizes else (None, None)
    cells: list[Cell | str] = [row["name"], engine, *map(three_digits, mib)]
    if found is None:
        cells += [MISSING] + [""] * 8
    else:
        speeds = (one["engines"][engine]["words_per_second"] for one in (row, first))
        cells.append(Cell.compared(*(fixed(one, 0) for one in speeds), "ratio"))
        for score in found["scores"]:
            cells.append(fixed(score["score"], 2))
            if row is first:
                cells += [""] * 3
            else:
                ends = ("difference", "difference_low", "difference_high")
                cells += [signed(score[key]) for key in ends]
    cells.append(fixed(100 * aligned["equal"] / aligned["pieces"], 1) if aligned else "")
    tags = row.get("tags") if engine == "bergamot" else None
    cells += _shares(tags) if tags else ["", ""]
    return Row.of(cells, baseline=row is first)


def _shares(tags: Mapping[str, int]) -> list[str]:
    pairs = (tags["kept"], tags["lines"]), (tags["same_page"], tags["same_text"])
    return [fixed(100 * part / whole, 1) if whole else "" for part, whole in pairs]
