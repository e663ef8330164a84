"""Small experiments of the kinds `metric` and `generation`, with all their input files."""

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.generation.small import article, write_articles
from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.corpus.tatoeba import read_pairs

HEAD = "system\tseg_id\tlp\tsource\treference\thypothesis\tscore\n"
TRAINING = {
    "updates": 6,
    "batch_size": 4,
    "accumulate": 1,
    "learning_rate": 0.001,
    "warmup": 2,
    "validate_every": 3,
}
SHAPE = {
    "by": "making",
    "layers": 2,
    "width": 32,
    "heads": 4,
    "feed_forward": 40,
    "positions": 64,
    "vocabulary": 300,
    "training": TRAINING,
    "max_source": 48,
}
SMALLER = ["distilled", "pruned", "int8"]


def metric_experiment(folder: Path) -> dict[str, Any]:
    """Write a checkpoint, its encoder and judgements into a folder; return an experiment that prunes the metric."""
    make_checkpoint(folder / "comet", make_encoder(folder / "encoder"))
    (folder / "encoder").rename(folder / "moved")  # the checkpoint still names the old place
    draw = np.random.default_rng(1)
    rows = [
        (name, number, "en-de", source, reference, line or "Ja.", f"{draw.normal():.3f}")
        for name, lines in SYSTEMS.items()
        for number, (source, reference, line) in enumerate(
            zip(SOURCES, REFERENCES, lines, strict=True)
        )
    ]
    table = HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "judged.tsv").write_text(table, encoding="utf-8")
    texts = {"src": SOURCES, "ref": REFERENCES, **SYSTEMS}
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    judged = {"table": "judged.tsv", "score": "score"}
    return {
        "kind": "metric",
        "experiment": "small",
        "encoders": {"own": {"by": "hugging_face", "hugging_face": "moved"}},
        "reference": {"checkpoint": str(folder / "comet"), "encoder": "own"},
        "pruning": {
            "judgements": [judged],
            "development": {**judged, "statistic": "mqm"},
            "recipe": [
                {"method": "depth", "layers": 1},
                {"method": "one-shot", "neurons": 0.25, "heads": 0.5},
            ],
            "recipes": {"shallow": [{"method": "depth", "layers": 2}]},
        },
        "test_sets": {"news": {**judged, "statistic": "mqm", "paper": "en-de_news"}},
        "evaluation": {
            "resamples": 40,
            "permutations": 20,
            "robustness": {"segments": 4},
            "speed": {
                "sources": "src.txt",
                "references": "ref.txt",
                "systems": [f"{name}.txt" for name in SYSTEMS],
                "candidates": [2, 4],
                "rounds": 1,
            },
        },
    }


def metric_distillation(folder: Path) -> dict[str, Any]:
    """Write pairs into a folder; return a section `distillation` that trains two translators on them."""
    sides = zip(*read_pairs(260), strict=True)
    for side, lines in zip(("source", "target"), sides, strict=True):
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"pairs.{side}").write_text(text, encoding="utf-8")
    training = {"batch_tokens": 1024, "learning_rate": 0.003, "warmup": 5, "validate_every": 50}
    translations = {
        name: {
            "by": "training",
            "architecture": "demo.micro",
            "training": {**training, "updates": updates},
        }
        for name, updates in (("strong", 300), ("weak", 200))
    }
    return {
        "encoder": "own",
        "pairs": {
            "en-de": {
                "languages": {"source": "en", "target": "de"},
                "source": "pairs.source",
                "target": "pairs.target",
                "translators": {"rows": 200, "validation": 20, "vocabulary": 300},
                "translations": translations,
            }
        },
        "translation": {"shards": 2},
        "validation_share": 0.3,
    }


def generation_experiment(folder: Path) -> dict[str, Any]:
    """Write articles and text into a folder; return an experiment with all steps for two generators."""
    write_articles(folder / "articles.jsonl", 60)
    lines = "".join(f"{article(n)['article']}\n\n" for n in range(900))
    (folder / "text.txt").write_text(lines, encoding="utf-8")
    return {
        "kind": "generation",
        "experiment": "small",
        "data": {
            "news": {"task": "summarization", "train": [{"path": "articles.jsonl"}]},
            "birds": {"task": "language-modelling", "train": [{"path": "text.txt"}]},
        },
        "models": {
            "bart": {**SHAPE, "architecture": "bart", "data": "news", "max_target": 16},
            "gpt2": {
                **SHAPE,
                "architecture": "gpt2",
                "data": "birds",
                "text": ["birds", "news"],
            },
        },
        "steps": {
            "distilled": {"method": "distil", "layers": 1, "training": TRAINING},
            "pruned": {"method": "movement", "training": TRAINING},
            "as-long": {"method": "fine-tune", "training": {**TRAINING, "keep": "last"}},
            "int8": {"method": "post-training"},
            "int4": {"method": "post-training", "bits": 4},
            "used-pieces": {"method": "prune-vocabulary"},
        },
        "pipelines": [
            {"model": "bart", "steps": SMALLER},
            {"model": "bart", "steps": [SMALLER[0], "as-long"]},
            {"model": "gpt2", "steps": ["used-pieces", "int4"]},
        ],
        "evaluation": {
            "resamples": 40,
            "search": {"beam": 2, "max_tokens": 12},
            "perplexity": {"window": 32, "stride": 16},
            "speed": {"examples": 2, "given": 16, "new_tokens": 8, "rounds": 1},
        },
    }


def write_experiment(path: Path, config: dict[str, Any]) -> Path:
    """Write an experiment's file; return its path."""
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path
