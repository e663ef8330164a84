"""Translations for the distillation of metrics: the models of their steps, inputs and outputs (COMETINHO §5)."""

from weebill.experiment.translating_models import hub_folder

PAIRS = config["distillation"]["pairs"]
TRANSLATION = config["distillation"]["translation"]
PAIR_SHARDS = range(TRANSLATION["shards"])
TRANSLATORS = {  # (pairs, translation): settings of the translation
    (pairs, name): how
    for pairs, entry in PAIRS.items()
    for name, how in entry["translations"].items()
}
FETCHED_TRANSLATORS = {
    hub_folder(model): (model["hugging_face"], model["revision"])
    for how in TRANSLATORS.values()
    for model in how.get("models", [])
    if isinstance(model, dict)
}


def steps_of(pairs, translation):
    """Count the models that translate one after the other."""
    return len(TRANSLATORS[pairs, translation].get("models", [None]))


def translator_of(pairs, translation, step):
    """Return the folder of a step's model: trained here, fetched, or the user's own."""
    how = TRANSLATORS[pairs, translation]
    if how["by"] == "training":
        return [DISTILLATION / pairs / "translators" / translation]
    model = how["models"][int(step)]
    if isinstance(model, dict):
        return [DISTILLATION / "hugging_face" / hub_folder(model)]
    return present([model])


def translator_languages(pairs, translation, step):
    """Return the language codes of a step's input and output."""
    ends = PAIRS[pairs]["languages"]
    codes = TRANSLATORS[pairs, translation].get("languages")
    codes = codes or [ends["source"], ends["target"]]
    return codes[int(step) : int(step) + 2]


def step_input(wildcards):
    """Return the table that a step translates: the pairs, or the output of the previous step."""
    folder = DISTILLATION / wildcards.pairs
    if int(wildcards.step) == 0:
        return folder / "pairs.parquet"
    return folder / f"{wildcards.translation}/{int(wildcards.step) - 1}/merged.parquet"


def step_side(step):
    """Return the side of its input that a step translates; its translations become the other side."""
    return ("source", "target")[int(step) % 2]


def last_steps(pairs):
    """Return (table, column) of every finished translation of some pairs."""
    found = []
    for translation in PAIRS[pairs]["translations"]:
        last = steps_of(pairs, translation) - 1
        table = DISTILLATION / pairs / translation / str(last) / "merged.parquet"
        found.append((table, step_side(last + 1)))
    return found
