"""Writer of figures: PNG, SVG, an interactive page that needs no network, and the Vega-Lite specification."""

import json
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from altair.utils.html import INLINE_HTML_TEMPLATE, spec_to_html

from weebill.corpus.download import cache_folder
from weebill.errors import InputError
from weebill.files import atomic_path, read_json, write_json, write_text
from weebill.report.figures.alt_text import with_alt_text
from weebill.report.figures.style import in_house_style

FORMATS = ("png", "svg", "html", "json")
VERSION = "_".join(alt.SCHEMA_VERSION.split(".")[:2])


def save(chart: alt.TopLevelMixin, folder: str | Path, name: str) -> None:
    """Write a chart in the house style into `folder` as NAME.png, NAME.svg, NAME.html and NAME.json."""
    spec = in_house_style(chart)
    write_text(Path(folder) / f"{name}.json", json.dumps(spec, ensure_ascii=False))
    write_text(Path(folder) / f"{name}.html", _page(spec))
    write_text(Path(folder) / f"{name}.svg", _svg(spec))
    with atomic_path(Path(folder) / f"{name}.png") as partial:
        partial.write_bytes(vl_convert.vegalite_to_png(spec, vl_version=VERSION, scale=2))


def svg_of(chart: alt.TopLevelMixin) -> str:
    """Return a chart in the house style as the SVG that `save` writes."""
    return _svg(in_house_style(chart))


def _page(spec: dict[str, Any]) -> str:
    options = {"actions": {"export": True, "source": False, "editor": False}}
    return spec_to_html(
        spec,
        mode="vega-lite",
        vega_version=alt.VEGA_VERSION,
        vegalite_version=alt.VEGALITE_VERSION,
        vegaembed_version=alt.VEGAEMBED_VERSION,
        embed_options=options,
        template=_Page,
    )


class _Page:
    """Template for Altair of a page that contains Vega."""

    @staticmethod
    def render(**values: Any) -> str:
        return INLINE_HTML_TEMPLATE.render(**values, vegaembed_script=vega())


@cache
def vega() -> str:
    """Return Vega as one JavaScript; it is kept beside fetched files, because bundling takes two seconds."""
    kept = cache_folder().with_name(f"vega-{VERSION}-{vl_convert.__version__}.json")
    with suppress(InputError, OSError):  # missing, or damaged, which JSON shows
        return read_json(kept)
    script = vl_convert.javascript_bundle(vl_version=VERSION)
    with suppress(OSError):  # a folder that cannot be written
        write_json(kept, script)
    return script


def _svg(spec: dict[str, Any]) -> str:
    """Return a picture with its alternative text."""
    svg = _renumber(vl_convert.vegalite_to_svg(spec, vl_version=VERSION))
    return with_alt_text(svg, spec["description"])


def _renumber(svg: str) -> str:
    """Return the SVG with ids that start at 0, because Vega continues its count from picture to picture."""
    found = dict.fromkeys(re.findall(r'\bid="([a-z]+_?\d+)"', svg))
    names = {name: f"{name.rstrip('0123456789')}{index}" for index, name in enumerate(found)}
    return re.sub(r'(?<=["#])[a-z]+_?\d+(?=[")])', lambda m: names.get(m[0], m[0]), svg)
