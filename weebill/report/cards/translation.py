"""Cards of a translation experiment's models: the teacher's members and every measured variant."""

from collections.abc import Iterator

from weebill.evaluation.measurement import Variant
from weebill.pruning.methods import pruning_method
from weebill.report import noise
from weebill.report.cards.card import Card, Score
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results
from weebill.report.table import shortened


def card_of(results: Results, name: str, folder: str) -> Card:
    """Return the card of a variant, by its name and its model folder."""
    variant, config = Variant.parse(name), results.config
    source, target = config["languages"]["source"], config["languages"]["target"]
    return Card(
        name=name,
        task="translation",
        languages=[source, target],
        about=_about(results, variant),
        intended=(
            f"Translation from {source} to {target} of text like its training data. It was measured on "
            f"{', '.join(config['test_sets'])} only; expect lower quality on other text."
        ),
        command=f"echo '…' | weebill translate {folder}",
        scores=[
            Score(one.test_set, one.metric, one.score, one.low, one.high, one.signature)
            for one in results.qualities
            if one.variant == name
        ],
        facts=list(_facts(results, variant)),
        tags=[variant.student, variant.recipe, variant.precision],
    )


def _about(results: Results, variant: Variant) -> str:
    if variant.student == lookup.TEACHER:
        return "A teacher: a large model, or a member of an ensemble of them, whose translations train students."
    recipe = results.config["pruning"].get(variant.recipe)
    pruned = f"pruned by {pruning_method(recipe).label}" if recipe else "not pruned"
    numbers = "in float32" if variant.precision == "float32" else f"quantized ({variant.precision})"
    return (
        f"A small model (student) that learnt from a teacher's translations, {pruned}, {numbers}."
    )


def _facts(results: Results, variant: Variant) -> Iterator[tuple[str, str]]:
    if size := results.size(variant):
        yield "Parameters", f"{size.parameters:,}"
        yield "Size", f"{size.mib:.2f} MiB, {size.xz_mib:.2f} MiB after xz"
        yield "SHA-256 of the parameters", f"`{size.model_sha256}`"
    for engine in lookup.engines(results, variant):
        if one := lookup.speed(results, variant, engine=engine):
            speed = f"{shortened(one.words_per_second)}{noise.mark(one.seconds)}"
            words = "source words" + " (letters, as the script has no spaces)" * (
                one.characters > 0
            )
            yield f"Speed by {engine}", f"{speed} {words} per second on one core of {one.hardware}"
