"""The page of pruning's gains, against the invented experiment that it shows."""

from weebill.report.catalogue import pages
from weebill.report.pages.pruning import pruning_page
from weebill.report.tables.run_time import run_time_table


def test_the_page_holds_both_papers_tables_and_every_figure(pruned_results, tmp_path):
    pruned_results.config = config = {
        **pruned_results.config,
        "seed": 1,
        "corpora": {"tatoeba": {}},
        "students": ["small"],
        "training": {"updates": 2000},
    }
    pictures = pages({**config, "kind": "translation"}, ["comparisons"])["pruning_page"].pictures
    links = {heading: f"figures/{name}.svg" for name, heading in pictures.items()}
    page = pruning_page(pruned_results, run_time_table(tmp_path), links)
    for title in ("WNGT20 table 2", "WMT21 table 2"):
        assert sum(line.startswith(f"## {title}") for line in page.splitlines()) == 2
    for heading, link in links.items():
        assert f"![{heading}]({link})" in page
    assert "| lasso | group-lasso | groups rowcol |" in page
    assert "Test processor" in page and "seed 1. Corpora" in page
