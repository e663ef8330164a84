"""The report: one HTML page that needs no network, with a first page of results and a section for each stage."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, StrictUndefined

from weebill.report.costs import Job, hours
from weebill.report.figures.drawing import vega
from weebill.report.figures.style import NOTHING
from weebill.report.front.front import Example, Front, told_hours
from weebill.report.rendering import breakable, fragment_of, inline, to_fragment
from weebill.report.tables.run_time import run_time_table

Stages = Sequence[tuple[str, Sequence[str]]]  # (section, its rules)


@dataclass(frozen=True)
class Exhibit:
    """Table or figure of the report.  file: its HTML page, or the JSON of its specification; caption: a .rst file."""

    file: str
    section: str
    title: str
    caption_file: str
    config: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the exhibit, for links."""
        return re.sub(r"\W+", "-", Path(self.file).with_suffix("").as_posix()).strip("-")

    @property
    def is_figure(self) -> bool:
        return self.file.endswith(".json")

    @cached_property
    def caption(self) -> str:
        """The caption as HTML, with the figure's own subtitle."""
        text = Path(self.caption_file).read_text(encoding="utf-8")
        title = self._specification.get("title", "") if self.is_figure else ""
        below = title.get("subtitle", "") if isinstance(title, dict) else ""
        return caption_html(f"{text.strip()} {below}", self.config)

    @cached_property
    def _specification(self) -> dict[str, Any]:
        return json.loads(Path(self.file).read_text(encoding="utf-8"))

    @property
    def html(self) -> str:
        """The table as HTML."""
        return fragment_of(Path(self.file).read_text(encoding="utf-8"))

    @cached_property
    def spec(self) -> str:
        """The figure's specification as JSON for a page, without its title, which is a heading of the page."""
        spec = {key: value for key, value in self._specification.items() if key != "title"}
        return json.dumps(spec, ensure_ascii=False).replace("</", "<\\/")


@dataclass(frozen=True)
class Section:
    """Section of the report: the figures and tables of a stage, and the cost of its jobs in words."""

    title: str
    cost: str = ""
    figures: list[Exhibit] = field(default_factory=list)
    tables: list[Exhibit] = field(default_factory=list)

    @property
    def name(self) -> str:
        return re.sub(r"\W+", "-", self.title.lower())


def caption_html(text: str, config: Mapping[str, Any]) -> str:
    """Return a caption as HTML.  text: the simple reStructuredText of Snakemake's reports."""
    template = Environment(undefined=StrictUndefined).from_string(text)
    filled = template.render(snakemake=SimpleNamespace(config=config))
    paragraphs = [inline(part.strip()) for part in filled.split("\n\n") if part.strip()]
    emphasised = [re.sub(r"\*([^*]+)\*", r"<em>\1</em>", part) for part in paragraphs]
    return "".join(f"<p>{part}</p>" for part in emphasised)


def sections(exhibits: Sequence[Exhibit], jobs: Sequence[Job], stages: Stages) -> list[Section]:
    """Return the sections in the order of their numbers: "2 Teacher" is the second and has the title "Teacher".

    Figures without data are left out.
    """
    rules, found = dict(stages), {}
    shown = [one for one in exhibits if not (one.is_figure and NOTHING in one.spec)]
    for one in sorted(shown, key=lambda one: int(one.section.split(" ", 1)[0])):
        title = one.section.split(" ", 1)[1]
        if title not in found:
            taken = hours(jobs, rules.get(title, []))
            cost = "" if taken is None else f"The jobs of this stage took {told_hours(taken)}."
            found[title] = Section(title, cost)
        (found[title].figures if one.is_figure else found[title].tables).append(one)
    return list(found.values())


def report_page(
    front: Front,
    examples: Sequence[Example],
    exhibits: Sequence[Exhibit],
    jobs: Sequence[Job],
    stages: Stages,
) -> str:
    """Return the page.  The front's figure is shown on the first page only."""
    ahead = next(
        (
            one
            for one in exhibits
            if Path(one.file).stem == Path(front.figure).stem and one.is_figure
        ),
        None,
    )
    rest = [one for one in exhibits if one is not ahead]
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters.update(inline=inline, breakable=breakable)
    page = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    return environment.from_string(page).render(
        front=front,
        table=to_fragment(replace(front.table, notes=())),
        figure=ahead,
        examples=examples,
        sections=sections(rest, jobs, stages),
        cost=to_fragment(run_time_table(jobs)),
        vega=vega(),
    )
