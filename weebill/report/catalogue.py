"""Catalogue of tables, figures and pages, by kind of experiment and by the rule that makes them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from weebill.experiment.metrics import curve
from weebill.experiment.pipelines import piped_models, task_of
from weebill.pruning.methods import METHODS
from weebill.report.readers import READERS
from weebill.report.tables.beside_papers.registry import paper_tables

Config = Mapping[str, Any]
SCORES, TIMES = ("qualities", "sizes"), ("qualities", "sizes", "speeds")
PRUNED = ("qualities", "sizes", "comparisons")
# Settings that the tables and figures of a translation experiment read; those of other kinds read all.
KEYS = ("kind", "experiment", "test_sets", "corpora", "distillation", "pruning", "quantization")
KEYS += ("report",)


@dataclass(frozen=True)
class Item:
    """Table or figure: its file, the function that makes it, and where Snakemake's report shows it."""

    file: str  # below the folder of tables or figures, without its ending
    make: str | Callable  # "module:function" below `tables` or `figures`; it takes Results
    section: str
    title: str
    caption: str  # file in report/
    needs: tuple[str, ...] = SCORES  # fields of Results that the item requires
    uses: tuple[str, ...] = ()  # fields of Results that the item shows if they were measured
    shown: Callable[[Config], bool] = lambda config: True
    paper: str | None = None


@dataclass(frozen=True)
class Page:
    """Page of Markdown: its file, the function that makes it, and the pictures that it shows."""

    file: str
    make: str  # "module:function" below `pages`; the arguments are Results, run times and pictures
    pictures: Mapping[str, str]  # file of a figure → its heading
    needs: tuple[str, ...] = TIMES
    uses: tuple[str, ...] = ()


def _cut(part: str, config: Config) -> bool:
    """Return True if the experiment makes metrics from which some of a part is removed."""
    return "pruning" in config and bool(curve(config, part))


def _does(task: str, config: Config) -> bool:
    """Return True if a pipeline has a model for the task."""
    return any(task_of(config, name) == task for name in piped_models(config))


_summaries, _running_text = partial(_does, "summarization"), partial(_does, "language-modelling")

TABLES = {
    "translation": {
        "tables": (
            Item("variants", "overview:variants_table", "6 Evaluation", "All variants", "variants"),
            Item("heads", "overview:heads_table", "4 Pruning", "Heads and neurons left", "heads"),
            Item("pruning", "pruning:worth_table", "4 Pruning", "What pruning is worth", "pruning", PRUNED),
        ),
        "seeds_table": (
            Item("seeds", "seeds:seeds_table", "4 Pruning", "Other seeds", "seeds", ("seeds",)),
        ),
        "training_texts_table": (
            Item("training_texts", "training_texts:training_texts_table", "3 Students", "Training texts",
                 "training_texts", ("qualities", "texts", "pairs")),
        ),
        "activation_scales_table": (
            Item("activation_scales", "activation_scales:activation_scales_table", "5 Quantization",
                 "Activation scales", "activation_scales", ("scales", "scale_errors")),
        ),
        "shortlist_table": (
            Item("shortlist", "shortlist:shortlist_table", "6 Evaluation", "Lexical shortlist", "shortlist",
                 ("shortlists",)),
        ),
        "speed_tables": (
            Item("speed/variants", "speeds:speed_table", "6 Evaluation", "All variants: speed", "speed", TIMES),
            Item("speed/latency", "speeds:latency_table", "6 Evaluation", "All variants: latency", "latency",
                 ("latencies",)),
            Item("speed/engines", "speeds:benchmark_table", "6 Evaluation", "The runtime beside CTranslate2",
                 "engines", ("engines",)),
            Item("speed/gpu", "gpu:gpu_table", "6 Evaluation", "All students: GPU speed", "gpu", ("gpu_speeds",)),
            Item("speed/pruning", "pruning:pruned_speed_table", "4 Pruning", "What pruning is worth: speed",
                 "pruning_speed", (*PRUNED, "speeds")),
        ),
    },
    "metric": {
        "metric_tables": (
            Item("agreement", "metric:agreement_table", "1 Agreement", "All metrics", "agreement"),
        ),
    },
    "generation": {
        "generation_tables": (
            Item("generation_summarization", "generation:summaries_table", "1 Variants", "Summaries",
                 "generation_variants", TIMES, ("leads",), _summaries),
            Item("generation_language_modelling", "generation:running_text_table", "1 Variants", "Running text",
                 "generation_variants", TIMES, ("leads",), _running_text),
        ),
    },
}  # fmt: skip
# Section of Snakemake's report for the papers' tables, and the rules that make them, by folder.
PAPERS = {
    "translation": ("7 Papers", {"": "tables", "speed": "speed_tables"}),
    "metric": ("2 Papers", {"": "metric_tables"}),
    "generation": ("2 Paper", {"": "generation_tables"}),
}


def _metric_figure(file: str, make: str, title: str, *more: Any) -> Item:
    return Item(file, f"metric:{make}", "3 Figures", title, file, *more)


FIGURES = {
    "translation": {
        "figures": (
            Item("sizes", "translation:sizes", "5 Quantization", "Sizes", "sizes"),
            Item("heads", "translation:heads", "4 Pruning", "Heads left", "heads"),
            Item("quality_by_heads", "pruning:quality_by_heads", "4 Pruning", "Quality by heads removed",
                 "quality_by_heads", PRUNED),
            Item("quality_by_neurons", "pruning:quality_by_neurons", "4 Pruning", "Quality by neurons removed",
                 "quality_by_neurons", PRUNED),
            Item("head_maps", "pruning:head_maps", "4 Pruning", "Head maps", "head_maps", (*PRUNED, "head_map")),
        ),
        "speed_figures": (
            Item("speed/front", "translation:front", "6 Evaluation", "Quality, speed and size", "front", TIMES),
            Item("speed/quality_by_speed", "pruning:quality_by_speed", "4 Pruning", "Quality by speed",
                 "quality_by_speed", (*PRUNED, "speeds")),
        ),
        "teacher_training_figure": (
            Item("teacher_training", "translation:teacher_training", "2 Teacher", "Training", "teacher_training",
                 ("teachers",)),
        ),
        "student_training_figure": (
            Item("student_training", "translation:student_training", "3 Students", "Training", "student_training",
                 ("students",)),
        ),
    },
    "metric": {
        "metric_figures": (
            _metric_figure("cometinho_figure1", "figure1", "Time by systems (figure 1)", TIMES),
            _metric_figure("cometinho_figure2", "figure2", "Time by segments (figure 2)", TIMES),
            _metric_figure("cometinho_figure3", "figure3", "Time with and without the cache (figure 3)", TIMES),
            _metric_figure("cometinho_figure4", "layer_weights", "Layer weights (figure 4)"),
            _metric_figure("cometinho_figure5", "figure5", "Quality without top layers (figure 5)", SCORES, (),
                           partial(_cut, "layers")),
            _metric_figure("cometinho_figure6a", "figure6a", "Quality by neurons (figure 6a)", SCORES, (),
                           partial(_cut, "neurons")),
            _metric_figure("cometinho_figure6b", "figure6b", "Quality by heads (figure 6b)", SCORES, (),
                           partial(_cut, "heads")),
            _metric_figure("cometinho_figure7", "figure7", "Time of a choice by Bayes risk (figure 7)", TIMES),
        ),
    },
    "generation": {
        "generation_figures": (
            Item("textgen_figure3", "generation:threshold_schedule", "3 Figures",
                 "Schedule of movement pruning (figure 3)", "textgen_figure3", ("prunings",)),
            Item("textgen_figure4", "generation:pruning_maps", "3 Figures",
                 "What movement pruning removed (figure 4)", "textgen_figure4", ("prunings",)),
        ),
    },
}  # fmt: skip


def tables(config: Config, measured: Collection[str]) -> dict[str, list[Item]]:
    """Return the tables of an experiment by the rule that makes them.

    measured: fields of Results that have files.
    """
    return _shown(all_tables(config["kind"]), config, measured)


def figures(config: Config, measured: Collection[str]) -> dict[str, list[Item]]:
    """Return the figures of an experiment by the rule that makes them."""
    return _shown(FIGURES[config["kind"]], config, measured)


def settings(config: Config) -> Config:
    """Return the part of an experiment's configuration that its tables and figures read."""
    return {key: config[key] for key in KEYS} if config["kind"] == "translation" else config


def table_makers(kind: str) -> dict[str, Callable]:
    """Return the functions that make the tables of a kind of experiment, by the table's file."""
    return _makers(all_tables(kind), "tables")


def figure_makers(kind: str) -> dict[str, Callable]:
    """Return the functions that make the figures of a kind of experiment, by the figure's file."""
    return _makers(FIGURES[kind], "figures")


def page_maker(page: str) -> Callable:
    """Return the function that makes a page, as "module:function" below `pages`."""
    return _load("pages", page)


def all_tables(kind: str) -> dict[str, list[Item]]:
    section, rules = PAPERS[kind]
    found = {rule: list(items) for rule, items in TABLES[kind].items()}
    for table in paper_tables(kind):
        file = f"{table.folder}/{table.name}".lstrip("/")
        place = (section, table.label, table.caption)
        more = (table.needs, table.uses, table.shown, table.paper)
        found[rules[table.folder]].append(Item(file, table.build, *place, *more))
    return found


def modules(package: str, config: Config, items: Iterable[Item | Page]) -> list[str]:
    """Return the modules that make the items of one rule and read their measurements.

    The rule's code fingerprint depends on these modules.  Pruning methods are among them, because each method
    defines its own name.  package: tables, figures or pages.
    """
    items = list(items)
    makers = {item.make.partition(":")[0] for item in items if isinstance(item.make, str)}
    found = {f"weebill.report.{package}.{name}" for name in makers}
    fields = {name for item in items for name in (*item.needs, *item.uses)}
    found |= {READERS[config["kind"]][name].partition(":")[0] for name in fields}
    if config["kind"] == "translation":
        found |= {METHODS.module(recipe["method"]) for recipe in config["pruning"].values()}
    return sorted(found)


def _makers(rules: Mapping[str, Iterable[Item]], package: str) -> dict[str, Callable]:
    return {item.file: _load(package, item.make) for items in rules.values() for item in items}


def _load(package: str, make: str | Callable) -> Callable:
    if callable(make):
        return make
    module, _, name = make.partition(":")
    return getattr(import_module(f"weebill.report.{package}.{module}"), name)


def _shown(
    rules: Mapping[str, Iterable[Item]], config: Config, measured: Collection[str]
) -> dict[str, list[Item]]:
    found = {
        rule: [item for item in items if {*item.needs} <= {*measured} and item.shown(config)]
        for rule, items in rules.items()
    }
    return {rule: items for rule, items in found.items() if items}


def pages(config: Config, measured: Collection[str]) -> dict[str, Page]:
    """Return the pages of an experiment by the rule that makes them."""
    kind = config["kind"]
    pictures = {
        item.file: item.title for items in figures(config, measured).values() for item in items
    }
    if kind == "metric":
        return {"metric_page": Page("summary", "metric:metric_page", pictures, SCORES, ("speeds",))}
    if kind == "generation":
        page = Page("summary", "generation:generation_page", pictures, TIMES, ("leads",))
        return {"generation_page": page}
    headings = {
        "speed/front": "Quality, speed and size",
        "sizes": "Sizes",
        "heads": "Encoder heads left",
    }
    further = ("latencies", "shortlists", "engines", "gpu_speeds")
    found = {"summary": Page("summary", "translation:experiment_page", headings, TIMES, further)}
    if "comparisons" in measured:
        headings = {
            "quality_by_heads": "Quality by encoder heads removed",
            "quality_by_neurons": "Quality by feed-forward neurons removed",
            "speed/quality_by_speed": "Quality by speed",
            "head_maps": "Which heads went when",
        }
        needs = (*PRUNED, "speeds")
        found["pruning_page"] = Page("pruning", "pruning:pruning_page", headings, needs, ("seeds",))
    return found


def inputs(entries: Collection[Item | Page], measured: Collection[str]) -> list[str]:
    """Return the fields of Results that the given items or pages read."""
    names = [name for entry in entries for name in (*entry.needs, *entry.uses)]
    return [name for name in dict.fromkeys(names) if name in measured]
