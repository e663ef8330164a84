"""Files of the measurements that a metric experiment's tables, figures and page show."""

REPORT_FILES = {
    "qualities": expand(EVALUATION / "agreement/{judged}.json", judged=JUDGED_SETS),
    "sizes": expand(
        EVALUATION / "size/{metric}.json",
        metric=dict.fromkeys([*timed_metrics(), *PRUNED]),
    ),
    "speeds": [EVALUATION / "speed.json"] if "speed" in config["evaluation"] else [],
}
