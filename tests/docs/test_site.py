"""The site: links lead to the same places as in the repository, every page is listed, and numbers are current."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import weebill
import weebill_runtime
from docs.site.assemble import assemble
from docs.site.built import faults
from docs.site.claims import with_claims
from docs.site.contents import REPOSITORY, page_of, sections
from docs.site.links import rewrite
from docs.site.measured import benchmarks_page
from weebill import __version__
from weebill.__main__ import COMMANDS

README = (REPOSITORY / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def assembled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    assemble(folder)
    return folder


def test_every_link_leads_to_a_file_of_the_site(assembled):
    pages = [page for page in assembled.rglob("*.md") if "files" not in page.parts]
    links = 0
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?!\w+:|#)([^)\s#]+)", text):
            assert (page.parent / target).is_file(), f"{page}: {target}"
            links += 1
    assert links > 100


def test_every_page_has_a_place_in_the_contents_and_all_places_have_pages(assembled):
    written = {str(page.relative_to(assembled).with_suffix("")) for page in assembled.rglob("*.md")}
    listed = [page for pages in sections().values() for page in pages]
    assert len(listed) == len(set(listed)) and set(listed) | {"index"} == written


def test_generated_pages_have_what_the_code_has(assembled):
    commands = (assembled / "reference/command-line.md").read_text("utf-8")
    assert all(f"\n## weebill {name}\n" in commands for name in COMMANDS)
    assert (
        "\n### weebill metric prune\n" in commands
        and "\n### weebill benchmark runtime\n" in commands
    )
    interface = (assembled / "reference/python.md").read_text("utf-8")
    assert (
        ".. autofunction:: weebill.load\n" in interface
        and ".. autoclass:: weebill.Scorer\n" in interface
    )
    assert "`weebill_runtime.SearchOptions` is `weebill.SearchOptions`." in interface
    assert weebill_runtime.SearchOptions is weebill.SearchOptions
    claims = (REPOSITORY / "weebill/report/papers/claims.csv").read_text("utf-8").splitlines()[1:]
    page = (assembled / "papers/claims.md").read_text("utf-8")
    starts = ("| §", "| abstract", "| tables")
    assert sum(line.startswith(starts) for line in page.splitlines()) == len(claims)


def test_the_summary_of_each_page_of_results_is_short():
    for page in (REPOSITORY / "docs/results").glob("*.md"):
        _, _, after = page.read_text("utf-8").partition("## In short\n\n")
        lines = [line for line in after.partition("\n\n")[0].splitlines() if line.startswith("- ")]
        assert len(lines) <= 8, page


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("[a](docs/guides/gpu.md#commands)", "[a](guides/gpu.md#commands)"),
        ("![b](docs/results/multi30k/front.svg)", "![b](results/multi30k/front.svg)"),
        ("[c](https://example.org/x.md)", "[c](https://example.org/x.md)"),
        ("[d](#here)", "[d](#here)"),
        (
            "see [results](docs/results), [all](docs/architecture.md)",
            "see results, [all](architecture.md)",
        ),
        ("```\n[e](docs/no.md)\n```", "```\n[e](docs/no.md)\n```"),
    ],
)
def test_links_are_changed_outside_code(text, there):
    def target(path):
        return None if path == "docs/results" else page_of(path) or path.removeprefix("docs/")

    assert rewrite(text, "README.md", "index.md", target) == there


def test_a_link_to_nothing_names_its_page(tmp_path):
    def target(path):
        raise ValueError("no such file")

    with pytest.raises(ValueError, match=r"docs/a\.md: link to b\.md: no such file"):
        rewrite("[b](b.md)", "docs/a.md", "a.md", target)


def test_faults_of_a_built_site_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<p id="here">')
    good = '<a href="b.html#here">1</a><a href="https://example.org">2</a><img src="data:image/png;base64,">'
    (tmp_path / "a.html").write_text(good)
    assert list(faults(tmp_path)) == []
    bad = '<a href="c.html">1</a><a href="b.html#there">2</a><script src="https://example.org/x.js"></script>'
    (tmp_path / "a.html").write_text(bad)
    found = "\n".join(faults(tmp_path))
    assert (
        "c.html, which is not there" in found and "#there, but the page has no such place" in found
    )
    assert "fetches https://example.org/x.js" in found and len(found.splitlines()) == 3


def test_the_readme_is_short_and_its_claims_are_those_of_the_committed_results():
    assert len(README.splitlines()) <= 160
    assert with_claims(README) == README


def test_the_readme_shows_the_last_lines_of_the_demo():
    """The lines are those of the report's own function, except for numbers."""
    written = (REPOSITORY / "weebill/report/outcome.py").read_text("utf-8")
    [shown] = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    head, _, *roles, last, _ = shown.splitlines()
    assert f'"{head}"' in written and len(roles) == 3
    names = [re.match(r"  (\S+( \S+)*?)  ", line)[1] for line in roles]
    assert all(f'"{name}"' in written for name in names)
    assert last == f"Translate with the {names[-1]}:"


def test_benchmarks_are_shown_as_measured():
    rows = json.loads((REPOSITORY / "docs/results/benchmarks.json").read_text("utf-8"))["rows"]
    page = benchmarks_page()
    assert all(f"\n| {row['claim']} | " in page for row in rows)
    assert page.count("\n| ") - page.count("\n| claim |") == len(rows)


def test_the_drawing_of_the_floors_has_the_layers_of_the_contract():
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    drawn = (REPOSITORY / "docs/drawings/floors.svg").read_text("utf-8")
    names = re.findall(r'font-weight="bold">([^<]+)<', drawn)
    wanted = [layer for layer in layers if layer != "__main__" and not layer.startswith("ahead")]
    assert [{*re.split(r" [|:] ", one)} for one in names[: len(wanted)]] == [
        {*re.split(r" [|:] ", one)} for one in wanted
    ]


def test_the_version_is_one_everywhere():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    changelog = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    assert citation["version"] == __version__
    assert f"weebill-runtime=={__version__}" in project["dependencies"]
    assert re.search(r"^## (\S+)$", changelog, re.MULTILINE)[1] == __version__


def test_continuous_integration_runs_everything_and_builds_the_site():
    flows = [
        yaml.safe_load(path.read_text("utf-8"))
        for path in REPOSITORY.glob(".github/workflows/*.yml")
    ]
    steps = [
        step.get("run") for flow in flows for job in flow["jobs"].values() for step in job["steps"]
    ]
    assert ".ci/run" in steps and "make docs" in steps
    assert "\nmake docs\n" in (REPOSITORY / ".ci/run").read_text("utf-8")
    for form in REPOSITORY.glob(".github/ISSUE_TEMPLATE/*.yml"):
        assert yaml.safe_load(form.read_text("utf-8"))
