"""Catalogue of tables and figures, by kind of experiment and the rule that makes them, and of pages, by kind."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pkgutil import resolve_name
from typing import Any

from weebill.experiment.metrics import curve
from weebill.pruning.methods import METHODS
from weebill.report import papers
from weebill.report.lookups.generation import has_controls, has_task
from weebill.report.registry import PAPER_TABLES, READERS
from weebill.report.tables.beside_papers.comparison import paper_tables

Config = Mapping[str, Any]
SCORES, TIMES = ("qualities", "sizes"), ("qualities", "sizes", "speeds")
PRUNED = ("qualities", "sizes", "comparisons")
PRUNED_TIMES = (*PRUNED, "speeds")
# Settings that the tables and figures of a translation experiment read; other kinds of experiments read all settings.
KEYS = ("kind", "experiment", "test_sets", "corpora", "distillation", "pruning")
KEYS += ("quantization", "report")


@dataclass(frozen=True)
class Item:
    """Table or figure: its file, the function that makes it, and where Snakemake's report shows it."""

    file: str  # below the folder of tables or figures, without its ending
    make: str | Callable  # "module:function" below `tables` or `figures`; it takes Results
    section: str
    title: str
    needs: tuple[str, ...] = SCORES  # fields of Results that the item requires
    uses: tuple[str, ...] = ()  # fields of Results that the item shows if they were measured
    shown: Callable[[Config], bool] = lambda config: True
    own_caption: str = ""
    paper: str | None = None

    @property
    def caption(self) -> str:
        """Name of a file in report/; by default the name of the item's file."""
        return self.own_caption or self.file.rpartition("/")[2]


@dataclass(frozen=True)
class Page:
    """Page of Markdown: its file, the function that makes it, and the pictures that it shows."""

    file: str
    make: str  # "module:function" below `pages`; the arguments are Results, run times and pictures
    needs: tuple[str, ...] = TIMES
    uses: tuple[str, ...] = ()
    # Figures that are shown if they exist → headings; None: all figures with their titles.
    pictures: Mapping[str, str] | None = None


def _cut(part: str, config: Config) -> bool:
    """Return True if the experiment makes metrics without some of the given part (layers, heads or neurons)."""
    return "pruning" in config and bool(curve(config, part))


def _variants(task: str, make: str, title: str) -> Item:
    file = f"generation_{task.replace('-', '_')}"
    more = (TIMES, ("leads",), partial(has_task, task), "generation_variants")
    return Item(file, f"generation:{make}", "1 Evaluation", title, *more)


def _controls(task: str, make: str, title: str) -> Item:
    file, shown = f"generation_controls_{task.replace('-', '_')}", partial(has_controls, task)
    title = f"{title}: beside as long a training"
    more = {"shown": shown, "own_caption": "generation_controls"}
    return Item(file, f"generation_controls:{make}", "1 Evaluation", title, **more)


def _claims(paper: str, folder: str, uses: tuple[str, ...]) -> Item:
    kind, name = papers.PAPERS[paper].kind, papers.PAPERS[paper].name
    file, make = f"{folder}claims_{paper}", f"claims.{kind}:{paper}_claims"
    section = PAPER_SECTIONS[kind]
    return Item(
        file, make, section, f"{name}: claims", SCORES, uses, own_caption="claims", paper=name
    )


def _metric_figure(number: str, make: str, title: str, needs=SCORES, cut: str = "") -> Item:
    shown = partial(_cut, cut) if cut else Item.shown
    title = f"{title} (figure {number})"
    return Item(
        f"cometinho_figure{number}", f"metric:{make}", "3 Figures", title, needs, shown=shown
    )


# Section of Snakemake's report with the papers' tables.
PAPER_SECTIONS = {"translation": "7 Papers", "metric": "2 Papers", "generation": "2 Paper"}
# Fields of Results that claims about students need.
OF_STUDENTS = ("speeds", "gpu_speeds", "steps", "comparisons", "seeds")
TABLES = {
    "translation": {
        "tables": (
            Item("variants", "overview:variants_table", "6 Evaluation", "All variants"),
            Item("original_languages", "original_languages:original_languages_table", "6 Evaluation",
                 "BLEU by original language", ("sizes", "origins")),
            Item("steps", "steps:steps_table", "6 Evaluation", "What each step costs", ("sizes", "steps")),
            Item("heads", "overview:heads_table", "4 Pruning", "Heads and neurons left"),
            Item("pruning", "pruning:worth_table", "4 Pruning", "What pruning is worth", PRUNED),
            Item("seeds", "pruning:seeds_table", "4 Pruning", "Other seeds", ("seeds",)),
            Item("training_texts", "training_texts:training_texts_table", "3 Students", "Training texts",
                 ("qualities", "texts", "pairs")),
            Item("activation_scales", "activation_scales:activation_scales_table", "5 Quantization",
                 "Activation scales", ("qualities", "scale_errors")),
            Item("shortlist", "overview:shortlist_table", "6 Evaluation", "Lexical shortlist", ("shortlists",)),
        ),
        "speed_tables": (
            Item("speed/variants", "speeds:speed_table", "6 Evaluation", "All variants: speed", TIMES,
                 own_caption="speed"),
            Item("speed/latency", "speeds:latency_table", "6 Evaluation", "All variants: latency", ("latencies",)),
            Item("speed/engines", "speeds:benchmark_table", "6 Evaluation", "The runtime beside CTranslate2",
                 ("engines",)),
            Item("speed/gpu", "speeds:gpu_table", "6 Evaluation", "All students: GPU speed", ("gpu_speeds",)),
            Item("speed/firefox", "firefox:firefox_table", "6 Evaluation", "A published student, before and after",
                 ("firefox", "alignments")),
            Item("speed/pruning", "pruning:pruned_speed_table", "4 Pruning", "What pruning is worth: speed",
                 PRUNED_TIMES, own_caption="pruning_speed"),
            _claims("wngt20", "speed/", OF_STUDENTS),
            _claims("wmt21", "speed/", OF_STUDENTS),
        ),
    },
    "metric": {
        "metric_tables": (
            Item("agreement", "metric:agreement_table", "1 Agreement", "All metrics"),
            Item("robustness", "robustness:robustness_table", "1 Agreement", "Changed numbers and names",
                 ("qualities", "robustness")),
            _claims("cometinho", "", ("speeds",)),
        )
    },
    "generation": {
        "generation_tables": (
            _variants("summarization", "summaries_table", "Summaries"),
            _variants("language-modelling", "running_text_table", "Running text"),
            _controls("summarization", "summaries_controls", "Summaries"),
            _controls("language-modelling", "running_text_controls", "Running text"),
            _claims("textgen", "", ("speeds",)),
        ),
    },
}  # fmt: skip
# Rules that make the papers' tables, by folder.
PAPER_RULES = {
    "translation": {"": "tables", "speed": "speed_tables"},
    "metric": {"": "metric_tables"},
    "generation": {"": "generation_tables"},
}
FIGURES = {
    "translation": {
        "figures": (
            Item("sizes", "translation:sizes", "5 Quantization", "Sizes"),
            Item("heads", "translation:heads", "4 Pruning", "Heads left"),
            Item("quality_by_heads", "pruning:quality_by_heads", "4 Pruning", "Quality by heads removed", PRUNED),
            Item("quality_by_neurons", "pruning:quality_by_neurons", "4 Pruning", "Quality by neurons removed",
                 PRUNED),
            Item("head_maps", "pruning:head_maps", "4 Pruning", "Head maps", (*PRUNED, "head_map")),
            Item("teacher_training", "translation:teacher_training", "2 Teacher", "Training", ("teachers",)),
            Item("student_training", "translation:student_training", "3 Students", "Training", ("students",)),
        ),
        "speed_figures": (
            Item("speed/front", "translation:front", "6 Evaluation", "Quality, speed and size", TIMES),
            Item("speed/quality_by_speed", "pruning:quality_by_speed", "4 Pruning", "Quality by speed", PRUNED_TIMES),
            Item("speed/gpu_speed", "gpu:speed_by_batch", "6 Evaluation", "GPU speed", ("gpu_speeds",)),
        ),
    },
    "metric": {
        "metric_figures": (
            _metric_figure("1", "figure1", "Time by systems", TIMES),
            _metric_figure("2", "figure2", "Time by segments", TIMES),
            _metric_figure("3", "figure3", "Time with and without the cache", TIMES),
            _metric_figure("4", "layer_weights", "Layer weights"),
            _metric_figure("5", "figure5", "Quality without top layers", cut="layers"),
            _metric_figure("6a", "figure6a", "Quality by neurons", cut="neurons"),
            _metric_figure("6b", "figure6b", "Quality by heads", cut="heads"),
            _metric_figure("7", "figure7", "Time of a choice by Bayes risk", TIMES),
        ),
    },
    "generation": {
        "generation_figures": (
            Item("generation_front", "generation:front", "1 Evaluation", "Quality, size and speed", TIMES),
            Item("textgen_figure3", "generation:threshold_schedule", "3 Figures",
                 "Schedule of movement pruning (figure 3)", ("prunings",)),
            Item("textgen_figure4", "generation:pruning_maps", "3 Figures",
                 "What movement pruning removed (figure 4)", ("prunings",)),
        ),
    },
}  # fmt: skip
# Measurements that the first page of a report reads.
FRONTS = {
    "translation": Page("report", "translation:front", TIMES, ("latencies", "steps")),
    "metric": Page("report", "metric:front", SCORES, ("speeds",)),
    "generation": Page("report", "generation:front", TIMES, ("leads",)),
}
CARDS = {kind: replace(page, make=f"{kind}:card_of") for kind, page in FRONTS.items()}
SUMMARY_PICTURES = {
    "speed/front": "Quality, speed and size",
    "sizes": "Sizes",
    "heads": "Encoder heads left",
    "speed/gpu_speed": "Speed on a GPU",
}
PRUNING_PICTURES = {
    "quality_by_heads": "Quality by encoder heads removed",
    "quality_by_neurons": "Quality by feed-forward neurons removed",
    "speed/quality_by_speed": "Quality by speed",
    "head_maps": "When each head was removed",
}
PAGES = {
    "translation": (
        Page("summary", "translation:experiment_page", TIMES,
             ("latencies", "shortlists", "engines", "gpu_speeds", "steps", "comparisons", "seeds", "origins"),
             SUMMARY_PICTURES),
        Page("pruning", "translation:pruning_page", PRUNED_TIMES, ("seeds",), PRUNING_PICTURES),
    ),
    "metric": (Page("summary", "metric:metric_page", SCORES, ("speeds", "robustness")),),
    "generation": (Page("summary", "generation:generation_page", TIMES, ("leads",)),),
}  # fmt: skip


def shown(group: str, config: Config, measured: Collection[str]) -> dict[str, list[Item]]:
    """Return the tables or figures of an experiment by rule.  measured: fields of Results that have files."""
    found = {
        rule: [item for item in items if {*item.needs} <= {*measured} and item.shown(config)]
        for rule, items in all_items(group, config["kind"]).items()
    }
    return {rule: items for rule, items in found.items() if items}


def pages(config: Config, measured: Collection[str]) -> list[Page]:
    """Return the pages of an experiment."""
    figures = shown("figures", config, measured).values()
    drawn = {item.file: item.title for items in figures for item in items}
    return [
        replace(
            page,
            pictures={
                file: heading for file, heading in (page.pictures or drawn).items() if file in drawn
            },
        )
        for page in PAGES[config["kind"]]
        if {*page.needs} <= {*measured}
    ]


def settings(config: Config) -> Config:
    """Return the part of an experiment's configuration that its tables and figures read."""
    return {key: config[key] for key in KEYS} if config["kind"] == "translation" else config


def all_items(group: str, kind: str) -> dict[str, list[Item]]:
    """Return all tables, with the papers', or all figures of a kind of experiment by the rule that makes them."""
    if group == "figures":
        return FIGURES[kind]
    section, rules = PAPER_SECTIONS[kind], PAPER_RULES[kind]
    found = {rule: list(items) for rule, items in TABLES[kind].items()}
    for table in paper_tables(kind):
        file = f"{table.folder}/{table.name}".lstrip("/")
        more = (table.needs, table.uses, table.shown, table.caption, table.paper)
        found[rules[table.folder]].append(Item(file, table.build, section, table.label, *more))
    return found


def makers(group: str, kind: str) -> dict[str, Callable]:
    """Return the functions that make the tables or figures of a kind of experiment, by the item's file."""
    every = all_items(group, kind).values()
    return {item.file: maker(group, item.make) for items in every for item in items}


def maker(group: str, make: str | Callable) -> Callable:
    """Return the function that makes an item or page.  group: tables, figures or pages."""
    return make if callable(make) else resolve_name(f"weebill.report.{group}.{make}")


def modules(group: str, config: Config, entries: Iterable[Item | Page]) -> list[str]:
    """Return the modules that make the items or pages of one rule and read their measurements.

    The rule's code fingerprint depends on these modules.  They include pruning methods, because each method defines
    its own name.  group: tables, figures or pages.
    """
    entries, kind = list(entries), config["kind"]
    named = [f"weebill.report.{group}.{one.make}" for one in entries if not callable(one.make)]
    named += [READERS[kind][name] for one in entries for name in (*one.needs, *one.uses)]
    named += PAPER_TABLES[kind] if group != "figures" else ()
    found = {name.partition(":")[0] for name in named}
    if kind == "translation":
        found |= {METHODS.module(recipe["method"]) for recipe in config["pruning"].values()}
    return sorted(found)


def inputs(entries: Collection[Item | Page], measured: Collection[str]) -> list[str]:
    """Return the fields of Results that the given items or pages read."""
    names = [name for entry in entries for name in (*entry.needs, *entry.uses)]
    return [name for name in dict.fromkeys(names) if name in measured]
