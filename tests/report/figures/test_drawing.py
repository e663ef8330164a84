"""Figures' files are complete, need no network, and are equal if drawn twice.

One module draws all figures, because the first picture of a process takes seconds.
"""

import re
from html import escape

import altair as alt
import pandas as pd
import pytest
import vl_convert
from altair.utils.html import spec_to_html

from tests.report.figures.test_pruning import HEADS
from tests.report.tables.test_cleaning import PLAIN, labelled_report
from weebill.report.figures import cleaning, drawing, pruning, translation
from weebill.report.figures.style import in_house_style
from weebill.report.results import Results

EVERY = {
    "front": (translation.front, "small"),
    "sizes": (translation.sizes, "small"),
    "heads": (translation.heads, "small"),
    "quality by heads": (pruning.quality_by_heads, "small"),
    "quality by neurons": (pruning.quality_by_neurons, "small"),
    "quality by speed": (pruning.quality_by_speed, "small"),
    "head maps": (lambda _: pruning.head_maps(Results({}, head_map=HEADS)), "small/pushy"),
    "no head maps": (lambda _: pruning.head_maps(Results({}, head_map=[])), ""),
    "cleaning": (lambda _: cleaning.cleaning_figure([labelled_report(), PLAIN]), "language_target"),
}


@pytest.mark.parametrize("name", EVERY)
def test_figures_need_no_network_are_reproducible_and_tell_what_they_show(
    pruned_results, tmp_path, name
):
    draw, word = EVERY[name]
    drawing.save(draw(pruned_results), tmp_path / "one", "figure")
    written = {f"figure.{form}" for form in drawing.FORMATS}
    assert {path.name for path in (tmp_path / "one").iterdir()} == written
    svg = drawing.svg_of(draw(pruned_results))
    assert svg == (tmp_path / "one/figure.svg").read_text(encoding="utf-8")
    if name == "front":  # one figure in all its formats
        drawing.save(draw(pruned_results), tmp_path / "two", "figure")
        for file in written:
            first, second = (tmp_path / folder / file for folder in ("one", "two"))
            assert first.read_bytes() == second.read_bytes(), file
    page = (tmp_path / "one/figure.html").read_text(encoding="utf-8")
    assert not re.search(
        r"""<(script|link|img|iframe)[^>]*(src|href)\s*=\s*["']?(https?:)?//""", page
    )
    assert word in page and word in svg
    assert (tmp_path / "one/figure.png").read_bytes().startswith(b"\x89PNG")
    spec = in_house_style(draw(pruned_results))
    assert spec["description"] and "…" not in svg, "a text is cut"
    assert f'role="img" aria-label="{escape(spec["description"])}"' in svg
    assert not any(one in svg.lower() for one in ("hover", "zoom", "drag", "click"))


def test_a_page_is_altairs_with_or_without_what_is_kept_of_vega(tmp_path, monkeypatch):
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "kept"))
    chart = alt.Chart(pd.DataFrame({"a": [1, 2]})).mark_bar().encode(x="a:Q")
    for name in ("first", "second"):
        drawing.vega.cache_clear()
        drawing.save(chart, tmp_path, name)
    pages = [(tmp_path / f"{name}.html").read_bytes() for name in ("first", "second")]
    (kept,) = (tmp_path / "kept").glob("vega-*.json")
    script, whole = drawing.vega(), kept.read_bytes()
    with monkeypatch.context() as change:
        change.setattr(vl_convert, "javascript_bundle", lambda **_: script)  # takes a second
        for damaged in (b"", whole[:1000]):
            kept.write_bytes(damaged)
            drawing.vega.cache_clear()
            assert drawing.vega() == script and kept.read_bytes() == whole
    options = {"actions": {"export": True, "source": False, "editor": False}}
    own = spec_to_html(
        in_house_style(chart),
        "vega-lite",
        alt.VEGA_VERSION,
        alt.VEGAEMBED_VERSION,
        alt.VEGALITE_VERSION,
        embed_options=options,
        template="inline",
    )
    assert pages == [own.encode()] * 2
