"""Measurement files for a metric experiment's tables, figures and page."""

REPORT_FILES = {
    "qualities": expand(EVALUATION / "agreement/{judged}.json", judged=MEASURED_SETS),
    "sizes": expand(
        EVALUATION / "size/{metric}.json",
        metric=dict.fromkeys([*timed_metrics(), *PRUNED]),
    ),
    "speeds": [EVALUATION / "speed.json"] if "speed" in config["evaluation"] else [],
    "robustness": expand(
        EVALUATION / "robustness/{judged}.json",
        judged=config["test_sets"] if "robustness" in config["evaluation"] else [],
    ),
}

FIRST_JUDGED = next(iter(config["test_sets"]))
# Judged translations that the report shows with the scores of all metrics.
REPORT_EXAMPLES = {
    "judged": judged_tables([config["test_sets"][FIRST_JUDGED]]),
    "scores": scores_of_all(FIRST_JUDGED, shown_metrics(config, FIRST_JUDGED)),
}

# Folders with a model card, by metric.
CARD_FOLDERS = {
    name: model_of(name)
    for name in [*our_metrics(config), *PRUNED]
    if name != "ensemble"
}
CARD_FOLDERS["reference"] = members()
CARD_LOCK = []
