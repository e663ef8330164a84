"""Contents of the site: its sections, and the page of each file of the repository."""

from pathlib import Path, PurePosixPath

REPOSITORY = Path(__file__).parents[2]

# Files outside docs/ that are pages, and data in docs/results that a generated page shows.
PLACES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "config/README.md": "reference/configuration.md",
    "config/metric.md": "reference/metric.md",
    "config/generation.md": "reference/generation.md",
    "results/README.md": "reference/results-folder.md",
    "runtime/README.md": "reference/runtime.md",
    "weebill/corpus/tatoeba/NOTICE.md": "reference/tatoeba.md",
    "docs/results/benchmarks.json": "results/benchmarks.md",
    "docs/results/gpu/h100.json": "results/gpu.md",
}
SECTIONS = {
    "Start": ("getting-started", "concepts", "troubleshooting"),
    "Guides": (
        "guides/own-data",
        "guides/languages",
        "guides/experiments",
        "guides/resume",
        "guides/report",
        "guides/gpu",
        "guides/cluster",
        "guides/workflow",
        "guides/deploy",
        "guides/engines",
        "guides/firefox",
        "guides/comet",
        "guides/mbr",
        "guides/int8-generators",
    ),
    "Reference": (
        "reference/configuration",
        "reference/metric",
        "reference/generation",
        "reference/command-line",
        "reference/python",
        "reference/runtime",
        "reference/results-folder",
        "reference/tatoeba",
    ),
    "Results": (),  # all pages of docs/results, then what the benchmarks measured
    "Papers": ("papers/claims", "papers/tables", "papers/rehearsals"),
    "Project": ("contributing", "architecture", "security", "reliability", "changelog"),
}
MEASURED = ("results/benchmarks", "results/gpu")


def page_of(path: str) -> str | None:
    """Return the page of a file of the repository, both relative; None if the file is no page."""
    if path in PLACES:
        return PLACES[path]
    inside = PurePosixPath(path)
    if inside.suffix == ".md" and inside.parts[0] == "docs":
        return str(inside.relative_to("docs"))
    return None


def sources() -> dict[str, str]:
    """Return the page of each Markdown file of the repository that is one, by the file's path."""
    files = [name for name in PLACES if name.endswith(".md")]
    files += [str(file.relative_to(REPOSITORY)) for file in sorted(REPOSITORY.glob("docs/**/*.md"))]
    return {name: page for name in files if (page := page_of(name))}


def sections() -> dict[str, list[str]]:
    """Return the pages of each section in their order, without suffixes."""
    results = {page.removesuffix(".md") for page in sources().values()}
    found = sorted(page for page in results if page.startswith("results/"))
    return {
        name: [*found, *MEASURED] if name == "Results" else list(pages)
        for name, pages in SECTIONS.items()
    }
