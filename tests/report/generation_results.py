"""Invented results of a generation experiment."""

from dataclasses import replace

from tests.configuration.test_generation import CONFIG
from weebill.configuration.checking import check
from weebill.evaluation.quality.generation_quality import GenerationQuality
from weebill.evaluation.size.generation_size import GenerationSize
from weebill.evaluation.timing.generation_speed import GenerationSpeed
from weebill.experiment.pipelines import variants
from weebill.report.lookups.generation import movement_variants
from weebill.report.results import Results
from weebill.report.table import Table
from weebill.report.tables.generation import SCORES
from weebill.yaml_files import read_yaml

WHOLE = "bart/fine-tuned/distilled/pruned/trained-int8/int8"


def generation_results() -> Results:
    """Return a score, a size and a time of every variant; from each to the next, sizes and times fall."""
    config = check(read_yaml(CONFIG / "generation-small.yaml"), "x")
    found = Results(config, [], [], [])
    for number, variant in enumerate(variants(config), start=1):
        task = "summarization" if variant.startswith("bart") else "language-modelling"
        for metric in SCORES[task]:
            score = number * 10.0 if metric == "perplexity" else 0.5 / number
            found.qualities.append(
                GenerationQuality(
                    variant,
                    "text",
                    metric,
                    score,
                    score * 0.9,
                    score * 1.1,
                    20,
                    900 if task != "summarization" else None,
                    f"{task}|seed:1",
                    "a" * 64,
                    f"{number:064d}",
                    1,
                    {"torch": "2"},
                )
            )
        bytes_ = 2**20 * 8 // number
        found.sizes.append(GenerationSize(variant, {"F32": bytes_}, bytes_, bytes_, None, "b" * 64))
        found.speeds.append(
            GenerationSpeed(
                variant,
                10,
                100.0,
                64,
                [9.0],
                0.9 / number,
                14.0 / number,
                1.0,
                100.0,
                150.0,
                "a processor",
                {"torch": "2"},
            )
        )
    record = {
        "schedule": [
            {"update": 1, "heads": 0.0, "neurons": 0.1},
            {"update": 2, "heads": 0.25, "neurons": 0.6},
        ],
        "scores": {"heads": {"a": [0.1, 0.9]}, "neurons": {"b": [0.3, 0.2, 0.1, 0.4]}},
        "survivors": {"heads": {"a": [1]}, "neurons": {"b": [0, 3]}},
    }
    found.prunings = [record for _ in movement_variants(config)]
    return found


def without_controls(results: Results) -> Results:
    """Return results of an experiment without controls in its pipelines."""
    kept = [
        one for one in results.config["pipelines"] if not one["steps"][-1].startswith("as-long-as")
    ]
    return replace(results, config={**results.config, "pipelines": kept})


def cells(table: Table, variant: str) -> dict[str, tuple[str, str]]:
    row = next(row for row in table.rows if row.cells[0].text == variant)
    return {
        column.key: (cell.text, cell.delta)
        for column, cell in zip(table.columns, row.cells, strict=True)
    }


def piped(results: Results, *pipelines: str) -> Results:
    """Return results of pipelines "MODEL/STEP/STEP…", with two GPT-2s, a pruned vocabulary and equal scores."""
    models = results.config["models"]
    models = {**models, "small": models["gpt2"], "large": models["gpt2"]}
    steps = {**results.config["steps"], "used-pieces": {"method": "prune-vocabulary"}}
    paths = [path.split("/") for path in pipelines]
    listed = [{"model": path[0], "steps": path[1:]} for path in paths]
    config = {**results.config, "models": models, "steps": steps, "pipelines": listed}
    scores = [one for one in results.qualities if one.variant == "gpt2/fine-tuned"]
    found = replace(results, config=config, qualities=[], sizes=[], speeds=[], leads=[])
    named = [replace(one, variant=name) for name in variants(found.config) for one in scores]
    return replace(found, qualities=named)
