"""Tables and figures of metrics, those of COMETINHO, and one page of all."""

from weebill.experiment.metrics import curve

METRIC_TABLES = {  # file: (section, title, caption)
    "agreement": ("1 Agreement", "All metrics", "agreement"),
    "cometinho_table1": ("2 Papers", "COMETINHO, table 1", "cometinho_table"),
    "cometinho_table2": ("2 Papers", "COMETINHO, table 2", "cometinho_table"),
    "cometinho_claims": ("2 Papers", "COMETINHO, in the text", "cometinho_claims"),
}


def metric_figures():
    """The titles of the figures that the configuration asks for, by file."""
    found = {"cometinho_figure4": "Layer weights (figure 4)"}
    curves = {
        "cometinho_figure5": ("layers", "Quality without top layers (figure 5)"),
        "cometinho_figure6a": ("neurons", "Quality by neurons (figure 6a)"),
        "cometinho_figure6b": ("heads", "Quality by heads (figure 6b)"),
    }
    if PRUNED:
        for name, (part, title) in curves.items():
            if curve(config, part):
                found[name] = title
    if "speed" in config["evaluation"]:
        found["cometinho_figure1"] = "Time by systems (figure 1)"
        found["cometinho_figure2"] = "Time by segments (figure 2)"
        found["cometinho_figure3"] = "Time with and without the cache (figure 3)"
        found["cometinho_figure7"] = "Time of a choice by Bayes risk (figure 7)"
    return dict(sorted(found.items()))


METRIC_FIGURES = metric_figures()
METRIC_RESULTS = {
    "agreements": expand(EVALUATION / "agreement/{judged}.json", judged=JUDGED_SETS),
    "sizes": expand(
        EVALUATION / "size/{metric}.json",
        metric=dict.fromkeys([*timed_metrics(), *PRUNED]),
    ),
    "speed": [EVALUATION / "speed.json"] if "speed" in config["evaluation"] else [],
}
