"""Cards of a metric experiment's models: the references, and the smaller metrics made from them."""

from collections.abc import Iterator
from pathlib import Path

from weebill.experiment.metrics import REFERENCE
from weebill.files import read_json
from weebill.metric.architecture import Architecture
from weebill.report import noise
from weebill.report.cards.card import Card, Score
from weebill.report.front.metric import timed
from weebill.report.results import Results
from weebill.report.table import shortened
from weebill.yaml_files import load_yaml

# Text that a metric reads besides the translation → its name in a sentence, and its argument of `weebill score`.
TEXTS = {
    "src": ("its source", " -s source.txt"),
    "ref": ("a reference translation", " -r reference.txt"),
}


def card_of(results: Results, name: str, folder: str) -> Card:
    """Return the card of a metric, by its name and its model folder."""
    kind = f"A small metric of translation ({name}), made from a reference metric"
    if name.startswith(REFERENCE):
        kind = "A reference metric of translation, from which smaller ones are made"
    told, options = zip(*(TEXTS[one] for one in _read_texts(folder)), strict=True)
    return Card(
        name=name,
        task="text-classification",
        languages=["multilingual"],
        about=f"{kind}. It scores a translation by {' and '.join(told)}.",
        intended=(
            "Comparison of translation systems, and choice among translations. The table shows how far its scores "
            "agree with people's (τ); compare scores of the same metric and version only."
        ),
        command=f"weebill score --model {folder}{''.join(options)} -t system.txt",
        scores=[
            Score(one.test_set, "τ", one.tau, one.low, one.high, one.signature)
            for one in results.qualities
            if one.metric == name and one.tau is not None
        ],
        facts=list(_facts(results, name)),
        tags=["comet", "translation-metric"],
    )


def _read_texts(folder: str) -> list[str]:
    """Return the texts that a metric reads besides the translation, as keys of TEXTS."""
    checkpoint, path = Path(folder, "hparams.yaml"), Path(folder, "config.json")
    if checkpoint.is_file():  # a reference metric, in the format of unbabel-comet
        values = load_yaml(checkpoint.read_text(encoding="utf-8"))
        known = Architecture.from_hyperparameters(values, str(checkpoint)).texts
    else:
        known = Architecture.from_dict(read_json(path)["architecture"], str(path)).texts
    return [one for one in TEXTS if one in known]


def _facts(results: Results, metric: str) -> Iterator[tuple[str, str]]:
    if size := results.size(metric):
        yield "Parameters", f"{size.parameters:,}"
        yield "Size", f"{size.mib:.2f} MiB"
        yield "SHA-256 of the parameters", f"`{size.model_sha256}`"
    if one := timed(results, metric):
        yield (
            f"Time to score {one.amount} systems together, {one.way}",
            f"{shortened(one.median)}{noise.mark(one.seconds)} s on one core of {one.hardware}",
        )
