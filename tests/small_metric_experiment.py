"""A small valid experiment of the kind `metric`."""

JUDGED = {"table": "da.tsv", "score": "da"}
TEST = {**JUDGED, "statistic": "mqm"}
MADE = {"by": "pretraining", "layers": 3, "heads": 2, "width": 8, "intermediate": 16}
SMALL = {
    "kind": "metric",
    "experiment": "trial",
    "texts": ["a.txt"],
    "encoders": {"small": MADE, "xlmr": {"by": "hugging_face", "hugging_face": "folder"}},
    "reference": {"encoder": "small", "judgements": [JUDGED], "members": 2},
    "pruning": {
        "judgements": [JUDGED],
        "development": TEST,
        "layers": [1, 2],
        "heads": [0.5],
        "recipe": [{"method": "depth"}, {"method": "one-shot", "neurons": 0.25}],
    },
    "distillation": {
        "encoder": "small",
        "pairs": {
            "en-de": {
                "languages": {"source": "en", "target": "de"},
                "source": "a.en",
                "target": "a.de",
                "translations": {"direct": {"by": "models", "models": ["m"]}},
            }
        },
    },
    "metrics": {"BERTScore": {"by": "bert-score", "encoder": "small", "layer": 2}},
    "test_sets": {"news": {**TEST, "scores": {"BLEURT": "bleurt.txt"}}},
}
