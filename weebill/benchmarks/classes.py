"""Loading, equality of scores, and speed ratio for each model class and encoder of unbabel-comet 2.2.7, on one core.

unbabel-comet's own classes write the checkpoints, with random weights.  Both sides score one system of newstest2021;
unbabel-comet runs as in `comet-score`.  Rates count processor time, without starts.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from weebill.benchmarks import Option, Row
from weebill.benchmarks.metric import COMET, COMET_PYTHON, NEWS, read_text
from weebill.benchmarks.metric.checkpoint import PIECES, SHAPES, SHARED
from weebill.benchmarks.opponent import Opponent, compete
from weebill.evaluation.timing.metric_speed import Text
from weebill.evaluation.timing.timer import one_thread
from weebill.metric.encoder_folders import write_encoder
from weebill.metric.scorer import Scorer
from weebill.report.table import Column, Table, fixed
from weebill.report.table import Row as TableRow

SEGMENTS = 100
SMALLEST = {"segments": 10, "precision": "float32"}
EQUAL = 1e-5  # largest difference of scores that count as equal
REGRESSION, UNIFIED, XCOMET = "regression_metric", "unified_metric", "xcomet_metric"
KIWI, XL = {"input_segments": ["mt", "src"]}, {"encoder_model": "XLM-RoBERTa-XL"}
BERT = {"encoder_model": "BERT"}
WORDS = {"word_level_training": True, "word_layer": 2}
SOURCE, REFERENCE, BOTH = ("src",), ("ref",), ("src", "ref")
# Name in the table: the class, the given texts, and hyperparameters that differ from the class's defaults.
CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "RegressionMetric (wmt22-comet-da)": (REGRESSION, BOTH, {}),
    "RegressionMetric, MiniLM": (REGRESSION, BOTH, {"encoder_model": "MiniLM"}),
    "RegressionMetric, BERT": (REGRESSION, BOTH, BERT),
    "RegressionMetric, RemBERT": (REGRESSION, BOTH, {"encoder_model": "RemBERT"}),
    "RegressionMetric, XLM-R-XL": (REGRESSION, BOTH, XL),
    "ReferencelessRegression (wmt20-comet-qe-da)": ("referenceless_regression_metric", SOURCE, {}),
    "RankingMetric": ("ranking_metric", BOTH, {}),
    "UnifiedMetric (wmt22-unite-da)": (UNIFIED, BOTH, {}),
    "UnifiedMetric, by the source": (UNIFIED, SOURCE, {}),
    "UnifiedMetric, by the reference": (UNIFIED, REFERENCE, {}),
    "UnifiedMetric, BERT, words": (UNIFIED, BOTH, BERT | WORDS),
    "UnifiedMetric (wmt22-cometkiwi-da)": (UNIFIED, SOURCE, KIWI),
    "UnifiedMetric, XLM-R-XL (wmt23-cometkiwi-da-xl)": (UNIFIED, SOURCE, XL | KIWI),
    "XCOMETMetric, XLM-R-XL (XCOMET-XL)": (XCOMET, BOTH, {"word_layer": 2}),
    "XCOMETMetric, by the source": (XCOMET, SOURCE, {"word_layer": 2}),
}
# Program of the opponent: writes a checkpoint, and predicts.
PROGRAM = """
import os
import pytorch_lightning, torch, yaml
from pathlib import Path
torch.set_num_threads(1)
from comet import load_from_checkpoint
from comet.models import str2model
task, folder = arguments
os.chdir(Path(folder).parent)  # where MiniLM's tokenizer is
values = json.loads(Path(task).read_text())
torch.manual_seed(1)
kind = str2model[values.pop("class_identifier")]
made = kind(**values, load_pretrained_weights=False, local_files_only=True)
trainer = pytorch_lightning.Trainer(
    accelerator="cpu", logger=False, enable_progress_bar=False, enable_checkpointing=False
)
trainer.strategy.connect(made)
file = Path(folder, "checkpoints/model.ckpt")
trainer.save_checkpoint(file)
Path(folder, "hparams.yaml").write_text(yaml.safe_dump(dict(made.hparams)))
del made, trainer
model = load_from_checkpoint(str(file), local_files_only=True)
model.set_embedding_cache()
def work(samples):
    if hasattr(model.retrieve_sentence_embedding, "cache_clear"):
        model.retrieve_sentence_embedding.cache_clear()
    return model.predict(samples, gpus=0, progress_bar=False).scores
"""


def run(
    rounds: int,
    comet: Annotated[Path, Option(COMET_PYTHON, "PYTHON")] = COMET,
    news: Annotated[Path, Option("same as in `benchmark metric`", "FOLDER")] = NEWS,
    shape: Annotated[str, Option("shape of the encoders", choices=SHAPES)] = "base",
    segments: Annotated[int, Option("approximate number of segments", "N")] = SEGMENTS,
    precision: Annotated[str, Option("precision of ours")] = "float32",
) -> Iterator[Row | Table]:
    """Yield segments per second of each model class, then the table of all.

    Raises InputError without a text, or without unbabel-comet.
    """
    text = read_text(news, segments).first(1)
    rows = []
    with tempfile.TemporaryDirectory() as name, one_thread():
        folders = _encoders(Path(name) / "encoders", shape, text)
        for number, case in enumerate(CASES):
            folder = Path(name) / f"encoders/{number}"
            row, difference = _measure(case, text, folder, folders, comet, precision, rounds)
            equal = "yes" if difference <= EQUAL else "no"
            speeds = (fixed(one, 2) for one in (row.ours, row.other, row.ratio))
            rows.append(TableRow.of((case, "yes", equal, f"{difference:.0e}", *speeds)))
            yield row
    columns = (
        *Column.texts(case="Model class", loads="Loads", equal="Equal"),
        Column("difference", "Largest difference"),
        *Column.grouped("Segments/s", ours="ours", other="unbabel-comet"),
        Column("ratio", "Ratio"),
    )
    yield Table(
        "classes",
        "Model classes of unbabel-comet",
        f"Encoders in the shape {shape}, with random weights, in {precision}; {len(text.sources)} segments.",
        columns,
        rows,
        (f"Equal: no score differs by more than {EQUAL:.0e}.",),
    )


def _encoders(root: Path, shape: str, text: Text) -> dict[str, Path]:
    """Write a folder for each family of encoders."""
    lines = list(chain(text.sources, text.references, *text.systems.values()))
    names = ("XLM-RoBERTa", "XLM-RoBERTa-XL", "MiniLM", "BERT", "RemBERT")
    values = {"max_position_embeddings": SHARED["max_position_embeddings"], **SHAPES[shape]}
    values["layer_norm_eps"] = SHARED["layer_norm_eps"]
    found = {name: write_encoder(root / name, name, lines, PIECES, **values) for name in names}
    # unbabel-comet takes MiniLM's tokenizer from here.
    write_encoder(root / "xlm-roberta-base", "XLM-RoBERTa", lines, PIECES, **values)
    return found


def _measure(
    case: str,
    text: Text,
    folder: Path,
    encoders: Mapping[str, Path],
    python: Path,
    precision: str,
    rounds: int,
) -> tuple[Row, float]:
    """Return the row of a case, and the largest difference of its scores."""
    folder.mkdir()
    kind, given, values = CASES[case]
    family = values.get("encoder_model", "XLM-RoBERTa-XL" if kind == XCOMET else "XLM-RoBERTa")
    own = {"encoder_model": family, "pretrained_model": str(encoders[family])}
    task = folder / "task.json"
    task.write_text(json.dumps({"class_identifier": kind, **values, **own}), encoding="utf-8")
    (translations,) = text.systems.values()
    columns = {"mt": translations, "src": text.sources, "ref": text.references}
    keys = ("mt", *given)
    samples = [
        dict(zip(keys, row, strict=True)) for row in zip(*map(columns.get, keys), strict=True)
    ]
    names = {"option": "--comet", "environment": "comet"}
    with Opponent(python, PROGRAM, task, folder, folder=folder, **names) as opponent:
        scorer = Scorer(folder, precision)
        others = (columns[key] if key in given else None for key in ("src", "ref"))
        ours = {precision: partial(scorer.score, {"": translations}, *others)}
        answers, rates = compete(ours, opponent, samples, float(len(samples)), rounds)
    wanted = np.array(answers["opponent"])
    difference = float(np.abs(answers[precision][""] - wanted).max())
    row = Row.of_rounds(
        f"{case}, newstest2021 en-de, {len(samples):,} segments, {precision}, against unbabel-comet's predict; "
        f"scores differ by at most {difference:.1e} (they scatter by {wanted.std():.1e}); one core",
        rates[precision],
        rates["opponent"],
        unit="segments/s",
        key=f"{case}, {precision}",
    )
    return row, difference
