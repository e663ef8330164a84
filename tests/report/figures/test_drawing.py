"""Pages of figures, against those that Altair writes itself."""

import altair as alt
import pandas as pd

from weebill.report.figures import drawing


def test_a_page_is_altairs_with_or_without_what_is_kept_of_vega(tmp_path, monkeypatch):
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "kept"))
    chart = alt.Chart(pd.DataFrame({"a": [1, 2]})).mark_bar().encode(x="a:Q")
    for name in ("first", "second"):
        drawing._vega.cache_clear()
        drawing.save(chart, tmp_path, name)
    pages = [(tmp_path / f"{name}.html").read_bytes() for name in ("first", "second")]
    assert len(list((tmp_path / "kept").glob("vega-*.js"))) == 1
    options = {"actions": {"export": True, "source": False, "editor": False}}
    configured = chart.configure_view(strokeOpacity=0).configure_axis(grid=True, gridOpacity=0.4)
    own = configured.to_html(inline=True, embed_options=options)
    assert pages == [own.encode()] * 2
