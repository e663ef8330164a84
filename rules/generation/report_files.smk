"""Tables and figures of models that generate text, those of TEXTGEN, and one page of all."""

TASK_TABLES = {
    "summarization": ("generation_summarization", "Summaries", (1, 3, 5, 6)),
    "language-modelling": ("generation_language_modelling", "Running text", (2, 4, 7)),
}
GENERATION_TABLES = {}  # file: (section, title, caption)
for task in dict.fromkeys(task_of(config, name) for name in piped_models(config)):
    name, title, numbers = TASK_TABLES[task]
    GENERATION_TABLES[name] = ("1 Variants", title, "generation_variants")
    for number in numbers:
        told = ("2 Paper", f"TEXTGEN, table {number}", "textgen_table")
        GENERATION_TABLES[f"textgen_table{number}"] = told
GENERATION_FIGURES = (
    {
        "textgen_figure3": "Schedule of movement pruning (figure 3)",
        "textgen_figure4": "What movement pruning removed (figure 4)",
    }
    if MOVEMENT_VARIANTS
    else {}
)
GENERATION_RESULTS = {
    "qualities": expand(QUALITY / "{variant}.json", variant=variants(config)),
    "leads": [
        LEADS / f"{model}.json"
        for model in piped_models(config)
        if model in SUMMARIZERS
    ],
    "sizes": expand(SIZES / "{variant}.json", variant=variants(config)),
    "speeds": expand(SPEEDS / "{model}.json", model=piped_models(config)),
    "prunings": expand(MODELS / "{variant}/pruning.json", variant=MOVEMENT_VARIANTS),
}
