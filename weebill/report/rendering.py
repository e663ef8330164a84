"""Writers of a table: CSV for machines, Markdown, LaTeX (booktabs), an HTML page, and all its data as JSON."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from string import Template

from weebill.files import write_text
from weebill.report.table import ABSENT, Cell, Column, Row, Table, groups

FORMATS = ("csv", "md", "tex", "html", "json")
LINE_CHARACTERS = 60  # the HTML page breaks longer texts into lines


def write_table(table: Table, folder: str | Path) -> None:
    """Write `table` into `folder` in every format, as NAME.csv, NAME.md, NAME.tex, NAME.html and NAME.json."""
    renderers = (to_csv, to_markdown, to_latex, to_html, to_json)
    for form, render in zip(FORMATS, renderers, strict=True):
        write_text(Path(folder) / f"{table.name}.{form}", render(table))


def to_csv(table: Table) -> str:
    """Return the table as CSV.  Each column KEY with deltas is followed by KEY_delta; absent cells are empty."""
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
        *(_texts(table.columns, row, _markdown, "**{}**") for row in table.rows),
    ]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "".join(f"\n- {note}" for note in table.notes)
    return f"{table.explanation}\n\n{body}\n{notes}{chr(10) if notes else ''}"


def to_latex(table: Table) -> str:
    """Return the table as a LaTeX `table` float, which needs the packages booktabs and graphicx."""
    caption = " ".join([f"{table.title}.", table.explanation, *table.notes])
    rows = [_texts(table.columns, row, _latex, "\\textbf{{{}}}") for row in table.rows]
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
    page = Template(Path(__file__).with_name("table.html").read_text(encoding="utf-8"))
    return page.substitute(title=escape(table.title), table=to_fragment(table))


def to_json(table: Table) -> str:
    """Return all data of the table as JSON, for `Table.from_dict`."""
    return json.dumps(asdict(table), ensure_ascii=False, indent=1) + "\n"


def to_fragment(table: Table) -> str:
    """Return the table as a part of an HTML page: explanation, table in a scrolling frame, and notes."""
    notes = "".join(f"<li>{inline(note)}</li>" for note in table.notes)
    cells = zip(*(row.cells for row in table.rows), strict=True)
    compared = [any(cell.delta for cell in column) for column in cells]  # the others need no room
    parts = [
        f"<p>{inline(table.explanation)}</p>",
        '<div class="scroll" tabindex="0"><table>',
        f"<thead>\n{_html_header(table.columns)}\n</thead>\n<tbody>",
        *(_html_row(table.columns, row, compared) for row in table.rows),
        "</tbody></table></div>",
        *([f'<ul class="notes">{notes}</ul>'] if notes else []),
    ]
    return "\n".join(parts)


def fragment_of(page: str) -> str:
    """Return the part of a page from `to_html` that `to_fragment` wrote."""
    return page.partition("</h1>\n")[2].rpartition("\n</body>")[0]


def breakable(name: str) -> str:
    """Return a name like STUDENT/RECIPE/PRECISION as HTML that may be broken into lines after its slashes."""
    return escape(name).replace("/", "/<wbr>")


def inline(text: str) -> str:
    """Return text as HTML: words in backticks are code, words between double stars bold, and "95 %" is not broken."""
    whole = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", escape(text, quote=False))
    bold = re.sub(r"\*\*([^*`]+)\*\*", r"<strong>\1</strong>", whole)
    return re.sub(r"`+([^`]+)`+", r"<code>\1</code>", bold)


def _texts(
    columns: Sequence[Column], row: Row, escaped: Callable[[str], str], bold: str
) -> list[str]:
    """Return the cells as readers see them, like "41.10 (−0.40)"; the first text of a baseline is bold."""
    texts = [
        escaped(_shown(column, cell) + (f" ({_sign(cell.delta)})" if cell.delta else "") or ABSENT)
        for column, cell in zip(columns, row.cells, strict=True)
    ]
    if row.kind == "baseline":
        label = next((index for index, cell in enumerate(row.cells) if cell.text), 0)
        texts[label] = bold.format(texts[label])
    return texts


def _shown(column: Column, cell: Cell) -> str:
    """Return a cell's text and mark; a number has a minus sign, and commas between its thousands."""
    number = column.numeric and re.fullmatch(r"(-?)(\d+)(\.\d+)?", cell.text)
    if not number:
        return cell.text + cell.mark
    sign, whole, decimals = number.groups("")
    return f"{_sign(sign)}{int(whole):,}{decimals}{cell.mark}"


def _sign(delta: str) -> str:
    return delta.replace("-", "−").replace("x", "×")


# Marks of Markdown, with which a sentence of a corpus would be shown as other text, and breaks of lines.
_MARKDOWN = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "\\|*`["},
        "&": "&amp;",
        "<": "&lt;",
        **dict.fromkeys("\r\n", " "),
    }
)


def _markdown(text: str) -> str:
    return text.translate(_MARKDOWN)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "−": "$-$",
        "×": r"$\times$",
        "–": "--",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "→": r"$\rightarrow$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
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
    first, rules, end = [], "", 0
    for heading, members in groups(columns):
        text, start, end = _latex(heading), end + 1, end + len(members)
        if len(members) > 1:
            text = f"\\multicolumn{{{len(members)}}}{{c}}{{{text}}}"
            rules += f"\\cmidrule(lr){{{start}-{end}}}"
        first.append(text)
    lines = [f"{' & '.join(first)} \\\\"]
    if any(column.title for column in columns):
        lines += [rules] if rules else []
        lines.append(f"{' & '.join(_latex(column.title) for column in columns)} \\\\")
    return lines


def _html_header(columns: Sequence[Column]) -> str:
    second = "".join(f"<th{_class(c)}>{escape(c.title)}</th>" for c in columns if c.title)
    first = ""
    for heading, members in groups(columns):
        span = f' class="group" colspan="{len(members)}"'
        if not members[0].title:
            span = (' rowspan="2"' if second else "") + _class(members[0])
        first += f"<th{span}>{escape(heading)}</th>"
    return f"<tr>{first}</tr>" + (f"\n<tr>{second}</tr>" if second else "")


def _html_row(columns: Sequence[Column], row: Row, compared: Sequence[bool]) -> str:
    triples = zip(columns, row.cells, compared, strict=True)
    cells = "".join(
        f"<td{_class(column)}{_direction(column)}>{_html_cell(column, cell, room)}</td>"
        for column, cell, room in triples
    )
    return f'<tr class="{row.kind}">{cells}</tr>'


def _direction(column: Column) -> str:
    """Return the attribute by which a browser shows text from right to left in scripts like Arabic."""
    return "" if column.numeric else ' dir="auto"'


def _html_cell(column: Column, cell: Cell, compared: bool) -> str:
    text = breakable(_shown(column, cell)) or f'<span class="absent">{ABSENT}</span>'
    if len(cell.text) > LINE_CHARACTERS:
        text = f'<div class="text">{text}</div>'
    shown = f"({_sign(cell.delta)})" if cell.delta else ""
    return text + (f'<span class="delta">{shown}</span>' if compared else "")


def _class(column: Column) -> str:
    names = ["number"] * column.numeric + ["paper"] * (column.title == "paper")
    return f' class="{" ".join(names)}"' if names else ""
