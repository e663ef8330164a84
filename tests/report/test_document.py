"""The report is one page that needs no network and has every table and figure, with their captions."""

import json
import re
from dataclasses import replace

import altair as alt
import pandas as pd

from weebill.report.costs import Job
from weebill.report.document import Exhibit, caption_html, report_page, sections
from weebill.report.figures import drawing
from weebill.report.figures.style import NOTHING
from weebill.report.front.front import Example, Front, told_hours
from weebill.report.rendering import fragment_of, to_fragment, to_html, write_table
from weebill.report.table import Cell, Column, Row, Table

MOST_BYTES = 3_000_000
CONFIG = {"evaluation": {"bootstrap": 50}}
TABLE = Table(
    "some",
    "Some <numbers>",
    "What `x` costs & gains.",
    [Column("name", "Name", numeric=False), Column("score", "Score", deltas=True)],
    [Row.of([f"row {n}", Cell(str(n), "+1")]) for n in range(3)],
    ["A note."],
)


def exhibits(folder):
    """Write a table and a figure; return them as the exhibits of two sections."""
    write_table(TABLE, folder)
    chart = alt.Chart(pd.DataFrame({"a": [1, 2]}), title=alt.Title("Hidden", subtitle="Below."))
    drawing.save(chart.mark_bar().encode(x="a:Q"), folder, "figure")
    caption = folder / "caption.rst"
    caption.write_text('*Most* of ``x``: {{ snakemake.config["evaluation"]["bootstrap"] }}.\n')
    table, figure = (str(folder / name) for name in ("some.html", "figure.json"))
    return [
        Exhibit(figure, "10 Last", "A figure", str(caption), CONFIG),
        Exhibit(table, "2 Middle", "A table", str(caption), CONFIG),
    ]


def test_the_page_is_whole_small_and_alone(tmp_path):
    front = Front("A title", [("Seed", "1")], ["`x` is 2× as fast."], TABLE, "figure")
    example = Example([("source", "<b>"), ("reference", "b"), ("student", "")])
    jobs = [Job("train", "a", 90.0, 5.0)]
    page = report_page(front, [example], exhibits(tmp_path), jobs, [("Middle", ["train"])])
    assert len(page.encode()) < MOST_BYTES
    assert not re.search(
        r"""<(script|link|img|iframe)[^>]*(src|href)\s*=\s*["']?(https?:)?//""", page
    )
    assert page.rstrip().endswith("</html>") and page.count("<html lang") == 1
    assert page.count("vegaEmbed=") + page.count("vegaEmbed =") <= 2, "one copy of Vega"
    ids = re.findall(r'\bid="([^"]+)"', page.split("<script>")[0])
    assert len(ids) == len({*ids})
    assert {*re.findall(r'href="#([^"]+)"', page.split("<script>")[0])} <= {*ids}
    assert "<p><code>x</code> is 2× as fast.</p>" in page
    assert "&lt;b&gt;" in page and "(nothing)" in page
    assert "The jobs of this stage took 1.5 minutes." in page
    assert 'href="provenance.html"' in page
    [spec] = re.findall(r'class="spec"[^>]*>(.*?)</script>', page)
    assert json.loads(spec)["mark"]["type"] == "bar" and "title" not in json.loads(spec)
    assert "<em>Most</em> of <code>x</code>: 50. Below." in page


def test_times_are_told_in_a_unit_that_shows_them():
    assert [told_hours(seconds / 3600) for seconds in (2, 59, 90, 4500)] == [
        "2 seconds", "59 seconds", "1.5 minutes", "1.25 hours"
    ]  # fmt: skip


def test_sentences_from_right_to_left_are_shown_so(tmp_path):
    """Without a direction, a browser puts the full stop of an Arabic sentence at its wrong end."""
    arabic = "نام القط."
    table = Table("t", "T", "", Column.texts(source="Source"), [Row.of([arabic])])
    front = Front("A title", [], [], table)
    page = report_page(front, [Example([("source", arabic), ("reference", "b")])], [], [], [])
    assert f'<td dir="auto">{arabic}</td>' in page and f'<dd dir="auto">{arabic}</dd>' in page


def test_sections_are_in_the_order_of_their_numbers(tmp_path):
    found = sections(exhibits(tmp_path), [], [])
    assert [one.title for one in found] == ["Middle", "Last"]
    assert [len(one.tables) for one in found] == [1, 0] and found[0].cost == ""


def test_a_figure_without_data_is_left_out(tmp_path):
    table, figure = reversed(exhibits(tmp_path))
    chart = alt.Chart().mark_text().encode(text=alt.value(NOTHING))
    drawing.save(chart, tmp_path, "empty")
    empty = replace(figure, file=str(tmp_path / "empty.json"))
    [section] = sections([table, empty], [], [])
    assert section.tables == [table] and not section.figures


def test_a_table_s_page_gives_its_part_back():
    assert fragment_of(to_html(TABLE)) == to_fragment(TABLE)
    assert "<code>x</code> costs &amp; gains" in to_fragment(TABLE)


def test_captions_have_paragraphs():
    assert caption_html("a\n\nb *c*\n", CONFIG) == "<p>a</p><p>b <em>c</em></p>"
