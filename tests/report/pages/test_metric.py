"""Sentences about metrics: signs of differences, and undefined values."""

import pytest

from tests.report.metric_results import NEWS
from tests.report.metric_results import metric_results as results
from tests.report.tables.test_robustness import one as damaged
from tests.workflow.running import REPOSITORY
from weebill.configuration.checking import check
from weebill.report.front.front import rehearsed
from weebill.report.pages.metric import in_short, learnt_from, metric_page
from weebill.report.tables.beside_papers.cometinho import TABLES
from weebill.report.tables.metric import agreement_table
from weebill.yaml_files import read_yaml


@pytest.mark.parametrize(
    ("difference", "shown"), [(-0.004, "−0.004"), (0.004, "+0.004"), (-0.0001, "+0.000")]
)
def test_the_sign_is_the_number_s_alone(difference, shown):
    lines = in_short(results(0.121, difference))
    assert lines[0] == f"τ on {NEWS}: reference 0.125, pruned 0.121."
    assert (
        lines[1]
        == f"`pruned`: 20% fewer parameters than the reference; its τ differs by {shown} on {NEWS}."
    )


def test_what_is_undefined_is_absent():
    found = results(None, None)
    assert in_short(found) == [
        f"τ on {NEWS}: reference 0.125, pruned –.",
        "`pruned`: 20% fewer parameters than the reference.",
    ]
    last = agreement_table(found).rows[-1]
    assert [cell.text for cell in last.cells[3:]] == [""] * 7
    for row in TABLES[0].build(found).rows:
        assert not any("nan" in cell.text.lower() for cell in row.cells)


def test_the_page_has_robustness_if_it_was_measured():
    found = results(0.121, -0.004)
    found.config |= {"experiment": "m", "seed": 1, "encoders": {}}
    heading = "<summary>Changed numbers and names</summary>"
    assert heading not in metric_page(found, [], {})
    found.robustness = [damaged("reference", "number", 0.875, 0.31, NEWS)]
    assert heading in metric_page(found, [], {})


def test_the_page_says_what_the_metrics_learn_from():
    found = results(0.121, -0.004)
    trained = {"by": "training", "architecture": "tiny", "training": {"updates": 1000}}
    pivot = {"by": "models", "models": ["en-fr", {"hugging_face": "x/fr-de", "revision": "1"}]}
    translations = {"strong": trained, "pivot": pivot}
    pairs = {"source": "captions.en", "rows": 16000, "translations": translations}
    config = {
        **found.config,
        "encoders": {"small": {"by": "pretraining"}, "large": {"by": "hugging_face"}},
        "texts": ["news.en", {"url": "https://x/y", "sha256": "0"}],
        "reference": {"judgements": [{"table": "ted.tsv", "score": "mqm"}]},
        "distillation": {"pairs": {"en-de": pairs}},
    }
    text, judged, distilled, measured = learnt_from(config)
    assert '(small): `news.en`, `{"url": "https://x/y"' in text
    assert judged == "People's judgements, for the reference: mqm of `ted.tsv`."
    assert "en-de: 16,000 rows of `captions.en`, translated by strong (tiny, trained" in distilled
    assert 'by 1,000 updates), pivot (`en-fr` and `{"hugging_face": "x/fr-de"' in distilled
    assert measured == f"Judgements for the measurement: {NEWS} (`news.tsv`)."


@pytest.mark.parametrize("name", ["comet", "cometinho", "metric-small"])
def test_the_page_of_every_experiment_says_what_its_metrics_learn_from(name):
    path = REPOSITORY / f"config/{name}.yaml"
    config = check(read_yaml(path), str(path))
    pairs = config.get("distillation", {}).get("pairs", {})
    lines = learnt_from(config)
    assert sum(line.startswith("Translations") for line in lines) == len(pairs)
    assert lines[-1].startswith("Judgements for the measurement: ")


def test_a_miniature_is_marked_and_a_real_experiment_is_not():
    assert rehearsed({"experiment": "comet"}) == []
    [mark] = rehearsed({"experiment": "rehearsal-comet", "rehearses": "comet"})
    assert mark.startswith("**Rehearsed.**") and "experiment comet" in mark
