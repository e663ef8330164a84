"""Small models that generate text, of the class and structure of models of the hub."""

from collections.abc import Sequence
from pathlib import Path

from weebill.errors import InputError, nearest
from weebill.generation.train_from_scratch import SPECIAL, Shape, new_model, train_tokenizer
from weebill.rehearsal.miniature.stand_ins import Model

PIECES = 400


def make_generator(folder: Path, model: Model, texts: Sequence[str]) -> None:
    """Write a model and its tokenizer.  Raises InputError if no small one of its class can be made."""
    if model.family not in SPECIAL:
        found = f"{folder}: no small model of the class '{model.family}' can be made"
        raise InputError(f"{found}{nearest(model.family, SPECIAL)}; one of {list(SPECIAL)}")
    tokenizer = train_tokenizer(texts, PIECES, SPECIAL[model.family], model.positions)
    shape = Shape(
        model.family,
        layers=model.layers,
        width=4 * model.heads,
        heads=model.heads,
        feed_forward=32,
        positions=model.positions,
        vocabulary=PIECES,
    )
    new_model(shape, tokenizer, seed=1).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
