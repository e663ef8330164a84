"""Writer of figures: PNG, SVG, and an interactive page that needs no network."""

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from altair.utils.html import INLINE_HTML_TEMPLATE

from weebill.corpus.download import cache_folder
from weebill.files import atomic_path, write_text

FORMATS = ("png", "svg", "html")
TABLEAU = alt.Scale(scheme="tableau10")


def save(chart: alt.TopLevelMixin, folder: str | Path, name: str) -> None:
    """Write a chart into `folder` as NAME.png, NAME.svg and NAME.html; the chart's own settings are kept."""
    if chart.config is alt.Undefined:
        chart = chart.configure_view(strokeOpacity=0).configure_axis(grid=True, gridOpacity=0.4)
    for form in FORMATS:
        with atomic_path(Path(folder) / f"{name}.{form}") as partial:
            if form == "html":
                options = {"actions": {"export": True, "source": False, "editor": False}}
                chart.save(str(partial), format="html", template=_Page, embed_options=options)
            else:
                chart.save(str(partial), format=form, scale_factor=2 if form == "png" else 1)
            if form == "svg":
                partial.write_text(_renumber(partial.read_text(encoding="utf-8")), encoding="utf-8")


class _Page:
    """Altair's template of a page with Vega inside."""

    @staticmethod
    def render(**values: Any) -> str:
        return INLINE_HTML_TEMPLATE.render(**values, vegaembed_script=_vega())


@cache
def _vega() -> str:
    """Return Vega as one JavaScript; it is kept beside fetched files, because bundling takes two seconds."""
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    kept = cache_folder().with_name(f"vega-{version}-{vl_convert.__version__}.js")
    if kept.is_file():
        return kept.read_bytes().decode()
    script = vl_convert.javascript_bundle(vl_version=version)
    with suppress(OSError):  # a folder that cannot be written
        write_text(kept, script)
    return script


def _renumber(svg: str) -> str:
    """Return the SVG with ids that count from 0: Vega continues its count from one picture to the next."""
    found = dict.fromkeys(re.findall(r'\bid="([a-z]+_?\d+)"', svg))
    names = {name: f"{name.rstrip('0123456789')}{index}" for index, name in enumerate(found)}
    return re.sub(r'(?<=["#])[a-z]+_?\d+(?=[")])', lambda m: names.get(m[0], m[0]), svg)
