"""Outputs of the present code for the golden files: plain values by source name."""

import sqlite3
from pathlib import Path
from typing import Any

import torch

from tests.metric.small import REFERENCES, SOURCES
from tests.metric.small import SYSTEMS as ALL_SYSTEMS
from tests.small_models import TEXT
from weebill.generation.models import load_generator
from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer
from weebill.runtime.exports.marian.conversion import import_model
from weebill.runtime.text import load_runtime
from weebill_runtime.options import SearchOptions

PRECISIONS = ("float32", "int8", "log4")
SYSTEMS = {name: ALL_SYSTEMS[name] for name in ("good", "bad")}
BEAM = SearchOptions(beam=3, nbest=2)


def outputs(base: Path, isa: str = "portable") -> dict[str, Any]:
    """Return the outputs for all files of an unpacked archive; isa: instruction set for translations."""
    return {
        "translations": {name: _translations(base, name, isa) for name in PRECISIONS},
        "n-best": _nbest(base, isa),
        "shortlist": load_runtime(base / "student/int8", isa, base / "shortlist.safetensors")
        .translate(TEXT),
        "imported from Marian": _imported(base, isa),
        "scores": _scores(base),
        "cached vectors": _cached(base),
        "generated": {name: _generated(base / "generator" / name) for name in ("bart", "gpt2")},
    }  # fmt: skip


def _translations(base: Path, precision: str, isa: str) -> list[str]:
    return load_runtime(base / "student" / precision, isa).translate(TEXT)


def _nbest(base: Path, isa: str) -> list[list[tuple[str, float]]]:
    found = load_runtime(base / "student/float32", isa).nbest(TEXT, BEAM)
    return [[(one.text, round(one.score, 4)) for one in each] for each in found]


def _imported(base: Path, isa: str) -> list[str]:
    """Return translations of the exported student after import; its folder is made in `base` and stays."""
    folder = base / f"imported-{isa}"
    import_model(base / "marian/model.npz", base / "marian/vocab.spm", folder)
    return load_runtime(folder, isa).translate(TEXT)


def _scores(base: Path) -> dict[str, list[float]]:
    found = Scorer(load_metric(base / "metric")).score(SYSTEMS, SOURCES, REFERENCES)
    return {name: [float(one) for one in scores] for name, scores in found.items()}


def _cached(base: Path) -> list[str]:
    """Return all keys of the cache file with their vectors, in hexadecimal digits."""
    with sqlite3.connect(base / "cache.sqlite") as database:
        rows = database.execute("SELECT key, vector FROM vectors ORDER BY key").fetchall()
    return [f"{key.hex()} {vector.hex()}" for key, vector in rows]


def _generated(folder: Path) -> list[list[int]]:
    """Return the tokens that greedy search generates for each text."""
    generator = load_generator(folder)
    found = []
    for text in TEXT:
        inputs = generator.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            tokens = generator.model.generate(
                inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                do_sample=False,
                num_beams=1,
                max_new_tokens=12,
            )
        found.append(tokens[0].tolist())
    return found
