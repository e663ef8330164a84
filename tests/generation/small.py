"""Small texts and small generators."""

import json
from dataclasses import replace
from pathlib import Path

from weebill.generation.data import TextData, import_data
from weebill.generation.settings import Device, TrainingSettings
from weebill.generation.step import Place
from weebill.generation.steps import Distil, FineTune, Movement, QuantizationAware
from weebill.generation.train_from_scratch import Shape, make_model

WORDS = ["wren", "robin", "crest", "tit", "finch", "lark", "swift", "crow", "owl", "rook"]
SHAPES = {
    name: Shape(name, layers=3, width=16, heads=4, feed_forward=24, positions=40, vocabulary=300)
    for name in ("bart", "gpt2")
}
FAST = TrainingSettings(
    updates=6, batch_size=4, accumulate=2, warmup=2, learning_rate=1e-3, validate_every=2
)
STEPS = {
    "fine-tune": FineTune(training=FAST),
    "distil": Distil(layers=2, loss={"preset": "published-code"}, training=FAST),
    "movement": Movement(training=FAST),
    "quantization-aware": QuantizationAware(training=FAST),
}


def article(number: int) -> dict[str, str]:
    """Return an article about some birds; its summary is the first sentence."""
    birds = [WORDS[(number * step + step) % 10] for step in range(1, 9)]
    return {
        "article": f"The {birds[0]} sang {number} times. {' '.join(birds)}.\nThen it slept.",
        "summary": f"The {birds[0]} sang {number} times.",
    }


def write_articles(path: Path, count: int = 40) -> Path:
    """Write articles as JSON Lines."""
    rows = (json.dumps(article(number)) + "\n" for number in range(count))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def news(folder: Path, count: int = 40) -> Path:
    """Import articles."""
    path = write_articles(folder / "articles.jsonl", count)
    settings = TextData(task="summarization", train=[{"path": str(path)}], validation_share=0.2)
    import_data(settings, folder / "news")
    return folder / "news"


def running_text(folder: Path) -> Path:
    """Import running text."""
    path = folder / "text.txt"
    path.write_text("".join(f"{article(n)['article']}\n\n" for n in range(700)), encoding="utf-8")
    settings = TextData(
        task="language-modelling", train=[{"path": str(path)}], validation_share=0.2
    )
    import_data(settings, folder / "running")
    return folder / "running"


def make(folder: Path, architecture: str, data: Path) -> Path:
    """Train a model that hardly knows the text."""
    made, training = folder / architecture, replace(FAST, updates=2, accumulate=1)
    make_model(made, [data], SHAPES[architecture], training, seed=1, device=Device())
    return made


def place(made, folder: Path, architecture: str = "bart", model: Path | None = None) -> Place:
    """Return the place of a step that writes into `folder`; it reads `model`, or a model of the fixture `made`."""
    origin, data = made[architecture]
    folder.mkdir(parents=True, exist_ok=True)
    return Place(model or origin, data, folder / "model", max_source=40, max_target=20)
