"""Writers of a table in four formats: CSV for machines, Markdown, LaTeX (booktabs), and an HTML page."""

import csv
import io
import re
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
    header = []
    for column in table.columns:
        header += [column.key] + ([f"{column.key}_delta"] if column.deltas else [])
    writer.writerow(header)
    for row in table.rows:
        line = []
        for column, cell in zip(table.columns, row.cells, strict=True):
            line += [cell.text] + ([cell.delta] if column.deltas else [])
        writer.writerow(line)
    return output.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, with its explanation above and its notes below."""
    titles = [_heading(column) for column in table.columns]
    marks = ["---:" if column.numeric else ":---" for column in table.columns]
    lines = [titles, marks]
    for row in table.rows:
        texts = [_shown(c.text, c.delta).replace("|", "\\|") for c in row.cells]
        if row.kind == "baseline":
            texts[_label(row)] = f"**{texts[_label(row)]}**"
        lines.append(texts)
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "".join(f"\n- {note}" for note in table.notes)
    return f"{table.explanation}\n\n{body}\n{notes}{chr(10) if notes else ''}"


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX `table` float, which needs the packages booktabs and graphicx."""
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        "\\begin{table}",
        "\\centering",
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{{''.join('r' if c.numeric else 'l' for c in table.columns)}}}",
        "\\toprule",
        *_latex_header(table.columns),
        "\\midrule",
    ]
    for row in table.rows:
        cells = [_latex(_shown(c.text, c.delta)) for c in row.cells]
        if row.kind == "baseline":
            cells[_label(row)] = f"\\textbf{{{cells[_label(row)]}}}"
        lines.append(f"{' & '.join(cells)} \\\\")
    caption = " ".join([f"{table.title}.", table.explanation, *table.notes])
    lines += ["\\bottomrule", "\\end{tabular}}", f"\\caption{{{_latex(caption)}}}"]
    lines += [f"\\label{{tab:{table.name}}}", "\\end{table}"]
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


def _label(row: Row) -> int:
    """Return the text of the first cell that is not empty, which is the name to print in bold."""
    return next((index for index, cell in enumerate(row.cells) if cell.text), 0)


def _heading(column: Column) -> str:
    return f"{column.group}, {column.title}" if column.title else column.group


def _shown(text: str, delta: str) -> str:
    """Return cell and delta as a reader sees them: "41.10 (−0.40)", "16.3 (×0.26)"."""
    if not text:
        return ABSENT
    return f"{text} ({_sign(delta)})" if delta else text


def _sign(delta: str) -> str:
    return delta.replace("-", "−").replace("x", "×")


_LATEX = {
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


def _latex(text: str) -> str:
    return re.sub(".", lambda match: _LATEX.get(match[0], match[0]), text, flags=re.DOTALL)


def _latex_header(columns: tuple[Column, ...]) -> list[str]:
    first, rules, place = [], [], 1
    for heading, width in groups(columns):
        if width > 1:
            first.append(f"\\multicolumn{{{width}}}{{c}}{{{_latex(heading)}}}")
            rules.append(f"\\cmidrule(lr){{{place}-{place + width - 1}}}")
        else:
            first.append(_latex(heading))
        place += width
    lines = [f"{' & '.join(first)} \\\\"]
    if any(column.title for column in columns):
        lines += ["".join(rules)] if rules else []
        lines.append(f"{' & '.join(_latex(column.title) for column in columns)} \\\\")
    return lines


def _html_header(columns: tuple[Column, ...]) -> str:
    two = any(column.title for column in columns)
    first, place = [], 0
    for heading, width in groups(columns):
        column = columns[place]
        if column.title:
            first.append(f'<th class="group" colspan="{width}">{escape(heading)}</th>')
        else:
            rows = ' rowspan="2"' if two else ""
            first.append(f"<th{rows}{_class(column)}>{escape(heading)}</th>")
        place += width
    lines = [f"<tr>{''.join(first)}</tr>"]
    if two:
        second = [f"<th{_class(c)}>{escape(c.title)}</th>" for c in columns if c.title]
        lines.append(f"<tr>{''.join(second)}</tr>")
    return "\n".join(lines)


def _html_row(columns: tuple[Column, ...], row: Row) -> str:
    cells = "".join(
        f"<td{_class(column)}>{_html_cell(column, cell)}</td>"
        for column, cell in zip(columns, row.cells, strict=True)
    )
    return f'<tr class="{row.kind}">{cells}</tr>'


def _html_cell(column: Column, cell: Cell) -> str:
    if not cell.text:
        return f'<span class="absent">{ABSENT}</span>' + _html_delta(column, "")
    text = escape(cell.text)
    if len(cell.text) > LINE_CHARACTERS:
        text = f'<div class="text">{text}</div>'
    return text + _html_delta(column, cell.delta)


def _html_delta(column: Column, delta: str) -> str:
    shown = f"({_sign(delta)})" if delta else ""
    return f'<span class="delta">{escape(shown)}</span>' if column.deltas else ""


def _class(column: Column) -> str:
    names = (["number"] if column.numeric else []) + (["paper"] if column.title == "paper" else [])
    return f' class="{" ".join(names)}"' if names else ""
