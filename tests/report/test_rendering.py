"""Tables have the same numbers in every format, and pages need no network."""

import re
from dataclasses import replace
from html import unescape

from markdown_it import MarkdownIt

from tests.report.conftest import BENCHMARK
from weebill.report import rendering
from weebill.report.table import Column, Row, Table
from weebill.report.tables import overview, pruning, speeds
from weebill.report.tables.beside_papers.comparison import paper_tables


def all_tables(results):
    yield pruning.worth_table(results)
    yield pruning.pruned_speed_table(results)
    yield overview.variants_table(results)
    yield overview.heads_table(results)
    yield speeds.speed_table(results)
    yield speeds.latency_table(results)
    yield speeds.benchmark_table(replace(results, engines=[BENCHMARK]))
    for table in paper_tables("translation"):
        yield table.build(results)


def cells_of_markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[c.strip().strip("*") for c in line.strip("|").split(" | ")] for line in lines[2:]]


def cells_of_latex(text: str) -> list[list[str]]:
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    lines = [line.removesuffix(" \\\\") for line in body.splitlines()[1:]]
    marks = (
        ("$-$", "−"),
        ("$\\times$", "×"),
        ("--", "–"),
        ("\\_", "_"),
        ("\\textbf{", ""),
        ("}", ""),
    )
    for latex, plain in marks:
        lines = [line.replace(latex, plain) for line in lines]
    return [line.split(" & ") for line in lines]


def test_markdown_and_latex_hold_the_numbers_of_the_csv(results):
    for table in all_tables(results):
        expected = []
        for row in table.rows:
            signs = [c.delta.replace("-", "−").replace("x", "×") for c in row.cells]
            expected.append(
                [
                    (f"{c.text} ({sign})" if sign else c.text) or "–"
                    for c, sign in zip(row.cells, signs, strict=True)
                ]
            )
        for shown in (
            cells_of_markdown(rendering.to_markdown(table)),
            cells_of_latex(rendering.to_latex(table)),
        ):
            plain = [[re.sub(r"(?<=\d),(?=\d{3})", "", text) for text in row] for row in shown]
            assert plain == expected


def test_numbers_are_shown_as_in_print_and_texts_as_they_are():
    columns = [Column("text", "Text", numeric=False), *map(Column, "abcd", "ABCD")]
    cells = ["-12000", "-12000.25", "-0.5", "1234567", "12/12"]
    table = Table("t", "T", "", columns, [Row.of(cells)])
    shown = ["-12000", "−12,000.25", "−0.5", "1,234,567", "12/12"]
    assert cells_of_markdown(rendering.to_markdown(table)) == [shown]
    assert cells_of_latex(rendering.to_latex(table)) == [shown]
    found = re.findall(r"<td[^>]*>(.*?)</td>", rendering.to_html(table))
    assert [unescape(text).replace("<wbr>", "") for text in found] == shown
    assert rendering.to_csv(table).splitlines()[1] == ",".join(cells)


SENTENCE = r"a<b> & *c* [d](e) `f` g\|h &amp;" + "\r" + "i | τ ≥ σ"


def test_a_sentence_is_shown_as_it_is():
    """A reader of Markdown, as of GitHub, shows the characters of the cell."""
    table = Table("t", "T", "", Column.texts(one="One", two="Two"), [Row.of([SENTENCE, "last"])])
    shown = MarkdownIt("gfm-like").disable("linkify").render(rendering.to_markdown(table))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown, re.DOTALL)
    assert [unescape(cell) for cell in cells] == [SENTENCE.replace("\r", " "), "last"]
    assert r"$\tau$ $\geq$ $\sigma$" in rendering.to_latex(table)


def test_latex_is_balanced(results):
    for table in all_tables(results):
        text = rendering.to_latex(table)
        assert text.count("{") == text.count("}") + text.count("\\{") - text.count("\\}")
        body = text[text.index("\\midrule") : text.index("\\bottomrule")]
        for line in body.splitlines()[1:]:
            assert line.count(" & ") == len(table.columns) - 1
        for character in "%#":
            assert not re.search(rf"(?<!\\){character}(?! needs|$)", text, re.MULTILINE)


def test_pages_need_nothing_from_the_network(results):
    for table in all_tables(results):
        page = rendering.to_html(table)
        assert "http" not in page
        assert "<script" not in page
        assert page.count("<tr") == len(table.rows) + (
            2 if any(c.title for c in table.columns) else 1
        )


def test_words_in_a_line_of_html():
    told = rendering.inline("**Rehearsed.** `a<b` & 2 ** 3")
    assert told == "<strong>Rehearsed.</strong> <code>a&lt;b</code> &amp; 2 ** 3"
