"""COMETINHO's tables and claims: means, and conclusions from the measured times."""

from tests.report.metric_results import agreement
from tests.report.metric_results import metric_results as results
from weebill.evaluation.size.metric_size import MetricSize
from weebill.evaluation.timing.metric_speed import MetricSpeed
from weebill.experiment.metrics import CACHED, PLAIN, SORTED, SORTED_CACHED
from weebill.report import papers
from weebill.report.results import Results
from weebill.report.tables.beside_papers.cometinho import PRUNED_SHAPE, TABLES


def test_the_mean_of_ours_stands_beside_the_paper_s_where_all_are_there():
    table = TABLES[0].build(results(0.121, -0.004))
    assert "avg_ours" not in [column.key for column in table.columns]
    names = [key for key in papers.load_table("cometinho", 1).columns if "_" in key]
    sets = {name: {"paper": name} for name in names if name != "params_m"}
    config = {"test_sets": sets, "evaluation": {"permutations": 20}}
    agreements = [
        agreement("reference", number / 10, None, name) for number, name in enumerate(sets)
    ]
    table = TABLES[0].build(Results(config, agreements, []))
    place = [column.key for column in table.columns].index("avg_ours")
    shown = {row.cells[0].text: row.cells[place].text for row in table.rows}
    assert shown["COMET"] == "0.250" and shown["BLEU"] == ""  # mean of 0, 0.1, …, 0.5; no values


def test_claims_are_of_measured_times():
    def speed(study, metric, way, amount, seconds):
        return MetricSpeed(study, metric, way, amount, [seconds], seconds, "one core", {})

    speeds = [
        speed("systems", "reference", PLAIN, 1, 8.0),
        speed("systems", "reference", SORTED, 1, 6.0),
        speed("systems", "reference", CACHED, 1, 7.0),
        speed("systems", "reference", SORTED_CACHED, 1, 5.0),
        speed("systems", "reference", "ours, float32", 1, 4.0),
        speed("systems", "distilled", "ours, float32", 1, 1.0),
        speed("segments", "reference", "ours, float32", 40, 4.0),
    ]
    found = results(0.121, -0.004)
    sizes = [*found.sizes, MetricSize("distilled", 20, 80, 2, [1.0], "a" * 64)]
    table = TABLES[2].build(Results(found.config, found.qualities, sizes, speeds))
    ours = {row.cells[0].text: row.cells[2].text for row in table.rows}
    saved = {
        "caching+length batching": "37.50",
        "length batching alone": "25.00",
        "caching alone": "12.50",
        "our scorer beside caching+length batching": "20.00",
    }
    for what, percent in saved.items():
        assert ours[f"{what}: time reduction scoring 1 system"] == percent
    assert ours["DISTIL-COMET seconds per 1000 samples"] == "25.00"
    assert ours["DISTIL-COMET speed improvement"] == "75.00"
    assert ours["DISTIL-COMET speed factor"] == "4.000"
    assert ours["PRUNE-COMET seconds per 1000 samples"] == ""


def parameters(layers: int, heads: int, neurons: int) -> int:
    """Count the parameters of COMET with XLM-R large (width 1024, heads of 64) and the estimator [3072, 1536]."""
    d, a = 1024, 64 * heads
    embeddings = (250_002 + 514 + 1) * d + 2 * d
    attention, feed_forward = 4 * d * a + 3 * a + d, 2 * d * neurons + neurons + d
    head = (6 * d + 1) * 3072 + (3072 + 1) * 1536 + 1536 + 1
    mix = layers + 2  # one weight per layer, one for the embeddings, and their factor
    return embeddings + layers * (attention + feed_forward + 4 * d) + head + mix


def test_the_shape_that_does_not_give_its_parameters_is_told():
    millions = {
        s: f"{parameters(*s) / 1e6:.1f}" for s in ((19, 14, 3072), (18, 14, 3072), (19, 12, 3072))
    }
    assert list(millions.values()) == ["469.6", "459.7", "459.7"]
    assert round(parameters(24, 16, 4096) / 1e6) == 582  # as in the paper
    assert "which give 469.6 M" in PRUNED_SHAPE and "both give 459.7 M" in PRUNED_SHAPE
    found = results(0.121, -0.004)
    assert all(PRUNED_SHAPE in table.build(found).notes for table in TABLES)


def test_each_recipe_of_pruning_has_a_row_below_the_paper_s():
    found = results(0.121, -0.004)
    recipes = {"pruned-19": [{"method": "depth", "layers": 5}]}
    found.config["pruning"] |= {"recipes": recipes}
    qualities = [*found.qualities, agreement("pruned-19", 0.119, -0.006)]
    sizes = [*found.sizes, MetricSize("pruned-19", 80, 320, 2, [1.0], "b" * 64)]
    table = TABLES[0].build(Results(found.config, qualities, sizes))
    rows = {row.cells[0].text: row for row in table.rows}
    names = [*rows]
    assert names[names.index("PRUNE-COMET") + 1] == "PRUNE-COMET, pruned-19"
    place = [column.key for column in table.columns].index("zh-en_news_ours")
    one, other = rows["PRUNE-COMET"].cells, rows["PRUNE-COMET, pruned-19"].cells
    assert [one[place].text, other[place].text] == ["0.121", "0.119"]
    printed = [column.key for column in table.columns].index("zh-en_news")
    assert one[printed].text == other[printed].text == "0.333"
    found.config["pruning"].pop("recipe")  # and no `pruned`
    table = TABLES[0].build(Results(found.config, [*found.qualities[:1], qualities[-1]], sizes))
    shown = {row.cells[0].text: row.cells[place].text for row in table.rows}
    assert (shown["PRUNE-COMET"], shown["PRUNE-COMET, pruned-19"]) == ("", "0.119")
