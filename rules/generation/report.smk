"""Measurement files for a generation experiment's tables, figures and page."""

from weebill.report.lookups.generation import movement_variants

REPORT_FILES = {
    "qualities": expand(QUALITY / "{variant}.json", variant=variants(config)),
    "leads": [
        LEADS / f"{model}.json"
        for model in piped_models(config)
        if model in SUMMARIZERS
    ],
    "sizes": expand(SIZES / "{variant}.json", variant=variants(config)),
    "speeds": expand(SPEEDS / "{model}.json", model=piped_models(config)),
    "prunings": expand(
        MODELS / "{variant}/pruning.json", variant=movement_variants(config)
    ),
}

SHOWN_SUMMARIZER = [name for name in piped_models(config) if name in SUMMARIZERS][:1]
# Articles that the report shows with the summaries by all variants of the first summarizer.
REPORT_EXAMPLES = {
    "data": [data_of(name) for name in SHOWN_SUMMARIZER],
    "summaries": [
        SUMMARIES / f"{variant}.jsonl"
        for name in SHOWN_SUMMARIZER
        for variant in variants_of(config, name)
    ],
}

# Folders with a model card, by variant.
CARD_FOLDERS = {variant: folder_of(variant) for variant in variants(config)}
CARD_LOCK = []
