"""Hyperparameters of models: variants of regression, and all classes of unbabel-comet, written by its own code."""

from pathlib import Path
from typing import Any

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_encoder

VARIANTS = {
    "softmax": {},
    "sparsemax": {"layer_transformation": "sparsemax"},
    "normalised": {"layer_norm": True, "layer_transformation": "sparsemax_patch"},
    "first": {"pool": "cls", "layer_norm": True},
    "largest": {"pool": "max"},
    "largest-normalised": {"pool": "max", "layer_norm": True},
    "last": {"pool": "default"},
    "one-layer": {"layer": 2, "layer_norm": True},
    "sigmoid": {"final_activation": "Sigmoid", "hidden_sizes": [16]},
    "referenceless": {"class_identifier": "referenceless_regression_metric"},
    "minilm": {"encoder_model": "MiniLM"},
}
UNIFIED = {"class_identifier": "unified_metric", "layer_norm": False}
WORDS = {"word_level_training": True, "word_layer": 2}
XCOMET = {"class_identifier": "xcomet_metric", "word_layer": 3, "encoder_model": "XLM-RoBERTa-XL"}
RANKING = {"class_identifier": "ranking_metric"}
KIWI, TWICE = ["mt", "src"], ["mt", "ref"]
CLASSES: dict[str, dict[str, Any]] = {
    "regression": {"class_identifier": "regression_metric", "hidden_sizes": [32, 16]},
    "regression-one-layer": {"layer": 2, "hidden_sizes": [32]},
    "regression-xl": {"encoder_model": "XLM-RoBERTa-XL", "hidden_sizes": [32]},
    "regression-rembert": {"encoder_model": "RemBERT", "hidden_sizes": [32]},
    "regression-bert": {"encoder_model": "BERT", "hidden_sizes": [32]},
    "regression-minilm": {"encoder_model": "MiniLM", "hidden_sizes": [32]},
    "referenceless": {"class_identifier": "referenceless_regression_metric", "hidden_sizes": [16]},
    "ranking": RANKING,
    "ranking-cls": {**RANKING, "pool": "cls", "layer": 1},
    "ranking-max": {**RANKING, "pool": "max", "layer_transformation": "sparsemax"},
    "unite": UNIFIED,
    "unite-normalised": {**UNIFIED, "layer_norm": True, "layer_transformation": "softmax"},
    "unite-one-layer": {**UNIFIED, "sent_layer": 1, "final_activation": "Sigmoid"},
    "unite-words": {**UNIFIED, **WORDS, "error_labels": ["minor", "major", "critical"]},
    "unite-twice": {**UNIFIED, "input_segments": TWICE},
    "unite-bert": {**UNIFIED, **WORDS, "encoder_model": "BERT"},
    "unite-rembert": {**UNIFIED, "encoder_model": "RemBERT"},
    "unite-minilm": {**UNIFIED, "encoder_model": "MiniLM", "input_segments": ["mt", "ref", "src"]},
    "kiwi": {**UNIFIED, "input_segments": KIWI},
    "kiwi-words": {**UNIFIED, **WORDS, "input_segments": ["src", "mt"]},
    "kiwi-xl": {**UNIFIED, "encoder_model": "XLM-RoBERTa-XL", "input_segments": KIWI},
    "kiwi-pruned": {**UNIFIED, "input_segments": KIWI, "pretrained_model": "pruned"},
    "xcomet": XCOMET,
    "xcomet-softmax": {**XCOMET, "layer_transformation": "softmax", "layer_norm": True},
    "xcomet-patched": {**XCOMET, "layer_transformation": "sparsemax_patch", "word_layer": 1},
}
FORMS = {"both": ("src", "ref"), "src": ("src",), "ref": ("ref",)}


def encoders(root: Path) -> dict[str, str]:
    """Write an encoder folder for each family, and one whose config.json names pruned heads."""
    found = {
        family: make_encoder(root / family, family)
        for family in ("XLM-RoBERTa", "XLM-RoBERTa-XL", "MiniLM", "BERT", "RemBERT")
    }
    pruned = {0: [1, 3], 2: [0]}
    found["pruned"] = make_encoder(root / "pruned", pruned_heads=pruned)
    make_encoder(root / "xlm-roberta-base")  # unbabel-comet reads MiniLM's tokenizer here
    return {name: str(folder) for name, folder in found.items()}


def hyperparameters_of(name: str, folders: dict[str, str]) -> dict[str, Any]:
    """Return the constructor arguments of a class, with the name of the class."""
    values = {
        "class_identifier": "regression_metric",
        "encoder_model": "XLM-RoBERTa",
        **CLASSES[name],
    }
    values["pretrained_model"] = folders[values.get("pretrained_model", values["encoder_model"])]
    if values["class_identifier"] != "ranking_metric":
        values.setdefault("hidden_sizes", [32, 16])
    return values


def forms(name: str) -> list[str]:
    """Return those FORMS of input that a model scores."""
    values = CLASSES[name]
    kind, texts = values.get("class_identifier"), values.get("input_segments")
    if kind == "referenceless_regression_metric" or (texts and "ref" not in texts):
        return ["src"]
    if texts and "src" not in texts:
        return ["ref"]
    return list(FORMS) if kind in ("unified_metric", "xcomet_metric") else ["both"]


def samples(form: str) -> list[dict[str, str]]:
    """Return all segments of all systems, in unbabel-comet's form."""
    return [
        {"mt": mt, **{key: {"src": src, "ref": ref}[key] for key in FORMS[form]}}
        for lines in SYSTEMS.values()
        for src, mt, ref in zip(SOURCES, lines, REFERENCES, strict=True)
    ]


def encoder_of(root: Path, values: dict[str, Any]) -> Path:
    """Return the encoder folder of a family; make it once."""
    family = values.get("encoder_model", "XLM-RoBERTa")
    folder = root / family
    return folder if folder.is_dir() else make_encoder(folder, family)
