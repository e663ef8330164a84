"""Writers of a table in four formats: CSV for machines, Markdown, LaTeX (booktabs), and an HTML page."""

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from weebill.files import write_text
from weebill.report.table import ABSENT, Cell, Column, Row, Table, groups

FORMATS = ("csv", "md", "tex", "html")
LINE_CHARACTERS = 60  # the HTML page breaks longer texts into lines


def write_table(table: Table, folder: str | Path) -> None:
    """Write `table` into `folder` in every format, as NAME.csv, NAME.md, NAME.tex and NAME.html."""
    for form, render in zip(FORMATS, (to_csv, to_markdown, to_latex, to_html), strict=True):
        write_text(Path(folder) / f"{table.name}.{form}", render(table))


def to_csv(table: Table) -> str:
    """Return the table as CSV, one line per row.

    A column KEY_delta follows each column KEY that has deltas.  Absent cells are empty.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    lines = [[(column.key, f"{column.key}_delta") for column in table.columns]]
    lines += [[(cell.text, cell.delta) for cell in row.cells] for row in table.rows]
    for line in lines:
        pairs = zip(table.columns, line, strict=True)
        writer.writerow([text for column, pair in pairs for text in pair[: 1 + column.deltas]])
    return output.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, with its explanation above and its notes below."""
    lines = [
        [f"{c.group}, {c.title}" if c.title else c.group for c in table.columns],
        ["---:" if c.numeric else ":---" for c in table.columns],
        *(_texts(row, lambda text: text.replace("|", "\\|"), "**{}**") for row in table.rows),
    ]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "".join(f"\n- {note}" for note in table.notes)
    return f"{table.explanation}\n\n{body}\n{notes}{chr(10) if notes else ''}"


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX `table` float, which needs the packages booktabs and graphicx."""
    caption = " ".join([f"{table.title}.", table.explanation, *table.notes])
    rows = [_texts(row, _latex, "\\textbf{{{}}}") for row in table.rows]
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        "\\begin{table}",
        "\\centering",
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{{''.join('r' if c.numeric else 'l' for c in table.columns)}}}",
        "\\toprule",
        *_latex_header(table.columns),
        "\\midrule",
        *(f"{' & '.join(texts)} \\\\" for texts in rows),
        "\\bottomrule",
        "\\end{tabular}}",
        f"\\caption{{{_latex(caption)}}}",
        f"\\label{{tab:{table.name}}}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_html(table: Table) -> str:
    """Return the table as an HTML page that loads no other file."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    rows = "\n".join(_html_row(table.columns, row) for row in table.rows)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(table.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(table.title)}</h1>
<p>{escape(table.explanation)}</p>
<div class="scroll">
<table>
<thead>
{_html_header(table.columns)}
</thead>
<tbody>
{rows}
</tbody>
</table>
</div>
{f"<ul>{notes}</ul>" if notes else ""}
</body>
</html>
"""


STYLE = """
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; color: #1d2733;
  background: #fff; margin: 1.5rem; }
h1 { font-size: 1.25rem; margin: 0 0 .4rem; }
p, ul { max-width: 60rem; color: #46525f; margin: .4rem 0 1rem; }
ul { padding-left: 1.2rem; font-size: .9em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .84rem; white-space: nowrap; }
th, td { padding: .26rem .45rem; text-align: left; border-bottom: 1px solid #e6eaee; }
thead th { border-bottom: 1px solid #b9c3cd; font-weight: 600; vertical-align: bottom; }
thead tr:last-child th, thead th[rowspan] { border-bottom: 2px solid #1d2733; }
th.group { text-align: center; }
td:first-child, th:first-child { position: sticky; left: 0; background: #fff; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.paper { color: #6a7682; background: #f6f8fa; }
.delta { display: inline-block; min-width: 3.9em; margin-left: .4em; font-size: .85em; color: #7a8590; }
.text { white-space: normal; width: 24rem; }
.absent { color: #b3bcc5; }
tr.baseline td { border-top: 2px solid #b9c3cd; font-weight: 600; }
tr.baseline + tr.baseline td { border-top-width: 1px; }
tr.absent td:not(.paper) { color: #98a3ad; }
tbody tr:hover td { background: #eef4fb; }
"""


def _texts(row: Row, escaped: Callable[[str], str], bold: str) -> list[str]:
    """Return the cells as a reader sees them, like "41.10 (−0.40)"; the first text of a baseline is bold."""
    shown = [f"{c.text} ({_sign(c.delta)})" if c.delta else c.text or ABSENT for c in row.cells]
    texts = list(map(escaped, shown))
    if row.kind == "baseline":
        label = next((index for index, cell in enumerate(row.cells) if cell.text), 0)
        texts[label] = bold.format(texts[label])
    return texts


def _sign(delta: str) -> str:
    return delta.replace("-", "−").replace("x", "×")


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "−": "$-$",
        "×": r"$\times$",
        "–": "--",
        "≤": r"$\leq$",
        "→": r"$\rightarrow$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def _latex(text: str) -> str:
    return text.translate(_LATEX)


def _latex_header(columns: Sequence[Column]) -> list[str]:
    first, rules, place = [], "", 1
    for heading, width in groups(columns):
        text = _latex(heading)
        if width > 1:
            text = f"\\multicolumn{{{width}}}{{c}}{{{text}}}"
            rules += f"\\cmidrule(lr){{{place}-{place + width - 1}}}"
        first.append(text)
        place += width
    lines = [f"{' & '.join(first)} \\\\"]
    if any(column.title for column in columns):
        lines += [rules] if rules else []
        lines.append(f"{' & '.join(_latex(column.title) for column in columns)} \\\\")
    return lines


def _html_header(columns: Sequence[Column]) -> str:
    second = "".join(f"<th{_class(c)}>{escape(c.title)}</th>" for c in columns if c.title)
    first, place = "", 0
    for heading, width in groups(columns):
        column = columns[place]
        span = f' class="group" colspan="{width}"'
        if not column.title:
            span = (' rowspan="2"' if second else "") + _class(column)
        first += f"<th{span}>{escape(heading)}</th>"
        place += width
    return f"<tr>{first}</tr>" + (f"\n<tr>{second}</tr>" if second else "")


def _html_row(columns: Sequence[Column], row: Row) -> str:
    pairs = zip(columns, row.cells, strict=True)
    cells = "".join(
        f"<td{_class(column)}>{_html_cell(column, cell)}</td>" for column, cell in pairs
    )
    return f'<tr class="{row.kind}">{cells}</tr>'


def _html_cell(column: Column, cell: Cell) -> str:
    text = escape(cell.text) or f'<span class="absent">{ABSENT}</span>'
    if len(cell.text) > LINE_CHARACTERS:
        text = f'<div class="text">{text}</div>'
    shown = f"({_sign(cell.delta)})" if cell.delta else ""
    return text + (f'<span class="delta">{escape(shown)}</span>' if column.deltas else "")


def _class(column: Column) -> str:
    names = ["number"] * column.numeric + ["paper"] * (column.title == "paper")
    return f' class="{" ".join(names)}"' if names else ""
