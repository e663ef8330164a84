"""The check returns a complete configuration for valid experiments of every kind."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from weebill.configuration.checking import check
from weebill.configuration.schema import load_schema
from weebill.configuration.zoo_file import load_zoo
from weebill.corpus.importers.entries import IMPORTERS, OF_THE_CORPUS
from weebill.experiment.student_names import with_students
from weebill.experiment.variants import expand_variants
from weebill.pruning.criteria import CRITERIA
from weebill.pruning.method import Criterion, Ranking
from weebill.pruning.methods import METHODS
from weebill.pruning.recipes import comparisons, comparisons_over_seeds, methods_of, shape_of
from weebill.yaml_files import read_yaml

CONFIG = Path(__file__).parents[2] / "config"
EXPERIMENTS = sorted(path for path in CONFIG.glob("*.yaml") if path.name != "models.yaml")
OTHER_QUESTIONS = ("demo", "firefox-original", "firefox", "noise", "pruning", "texts")
PRECISE = [
    path
    for path in EXPERIMENTS
    if path.stem not in OTHER_QUESTIONS
    and read_yaml(path).get("kind", "translation") == "translation"
]


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_experiments_are_valid(path):
    config = check(read_yaml(path), str(path))
    assert config["experiment"] in (path.stem, f"multi30k-{path.stem}")
    assert check(config, str(path)) == config  # a complete configuration does not change


def test_defaults_are_filled_at_every_depth(experiment, zoo):
    given = experiment({"training": {"updates": 170_000}})
    config = check(given, "trial.yaml", zoo)
    assert config["seed"] == 1
    assert config["corpora"]["tatoeba"]["use"] == "parallel"
    assert config["cleaning"]["rules"]["max_length_ratio"] == 1.45
    assert config["training"]["updates"] == 170_000
    assert config["training"]["warmup"] == config["teacher"]["training"]["warmup"] == 16000
    assert config["quantization"]["int8"]["finetune"]["learning_rate"] == 1e-4
    assert "finetune" not in config["quantization"]["log4"]
    assert "language_id" not in config["cleaning"]
    assert given == experiment({"training": {"updates": 170_000}})  # the input does not change


def test_no_pair_of_the_embedded_text_is_read_twice(experiment, zoo):
    entry = {"importer": "tatoeba", "pairs": 5}
    changes = {
        "corpora": {"tatoeba": {"pairs": 5}, "b": entry},
        "validation": [entry, entry],
        "test_sets": {"a": entry, "news": entry},
    }
    without = ["test_sets.news.source", "test_sets.news.target"]

    def read(more=0):
        changes["corpora"]["tatoeba"]["pairs"] += more
        config = check(experiment(changes, without), "trial.yaml", zoo)
        held_out = [*config["validation"], *config["test_sets"].values()]
        return held_out, list(config["corpora"].values())

    held_out, corpora = read()
    pairs = [text["skip"] + number for text in held_out + corpora for number in range(5)]
    assert sorted(pairs) == list(range(30))
    assert read(more=7)[0] == held_out  # held-out rows do not change with the corpus


def test_numbers_have_the_type_of_their_key(experiment, zoo):
    config = check(experiment({"training": {"updates": 3e5, "dropout": 0}}), "trial.yaml", zoo)
    assert isinstance(config["training"]["updates"], int)
    assert isinstance(config["training"]["dropout"], float)


def alternatives(section: str) -> dict[str, dict]:
    """Return the schemas of the alternatives of a section's entries, by the value that selects each."""
    rules = load_schema("translation")
    named = rules["properties"][section]["additionalProperties"]["oneOf"]
    options = [rules["$defs"][option["$ref"].removeprefix("#/$defs/")] for option in named]
    tag = {"corpora": "importer", "pruning": "method"}[section]
    return {option["properties"][tag]["const"]: option for option in options}


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_importer_has_its_keys_in_the_schema(name):
    section = alternatives("corpora")[name]["properties"]
    library = {field.name: field for field in fields(IMPORTERS[name])}
    assert set(section) - set(OF_THE_CORPUS) == set(library)
    for key, rule in section.items():
        if key in library and rule.get("default") not in (None, {}):
            assert rule["default"] == library[key].default


def test_criteria_and_rankings_are_those_of_the_library():
    assert get_args(Criterion) == tuple(CRITERIA)
    methods = alternatives("pruning")
    assert set(methods) == set(METHODS)
    for name in ("late-reset", "one-shot"):
        assert methods[name]["properties"]["criterion"]["enum"] == list(CRITERIA)
    for name in ("one-shot", "movement"):
        assert set(methods[name]["properties"]["ranking"]["enum"]) == set(get_args(Ranking))


@pytest.mark.parametrize("path", PRECISE, ids=lambda path: path.stem)
def test_every_student_is_quantized_both_tuned_and_untuned(path):
    config = check(read_yaml(path), str(path))
    made = set(expand_variants(config))
    for student in config["students"]:
        for grid in ("int8", "log4"):
            for precision in (grid, f"{grid}-finetuned"):
                assert (student, "unpruned", precision) in made


@pytest.mark.parametrize("name", ["wngt20.yaml", "wmt21.yaml"])
def test_finetuning_under_quantization_is_the_papers(name):
    section = _paper_scale(name)["quantization"]
    assert section["int8"]["finetune"]["learning_rate"] == 1e-4  # WMT21 §3.4
    assert section["log4"]["finetune"]["learning_rate"] == 1e-4
    assert section["log4"]["finetune"]["warmup"] == 2 * section["int8"]["finetune"]["warmup"]
    assert 5000 <= section["int8"]["finetune"]["updates"] <= 7000  # WNGT20 §5.1


COLUMNS = ("model", "precision", "pruning")


def rows(paper_table: str) -> set[tuple[str, ...]]:
    path = CONFIG.parent / "weebill" / "report" / "papers" / paper_table
    lines = path.read_text(encoding="utf-8").splitlines()
    header, *body = [line.split(",") for line in lines]
    return {
        tuple(row[header.index(column)] for column in COLUMNS if column in header) for row in body
    }


def _paper_scale(name: str) -> dict:
    return check(read_yaml(CONFIG / name), name)


def test_wngt20_holds_every_row_of_its_tables():
    variants = {"/".join(variant) for variant in expand_variants(_paper_scale("wngt20.yaml"))}
    for (model,) in rows("wngt2020_table1.csv") - {("teacher_x4",)}:
        assert f"{model}/unpruned/float32" in variants
    for (model,) in rows("wngt2020_table2.csv") - {("tiny",)}:
        recipe = model.removeprefix("tiny.").replace(".", "-")
        assert f"tiny/{recipe}/float32" in variants
    ours = {
        "float32": "float32",
        "8bit-untuned": "int8",
        "8bit": "int8-finetuned",
        "log-4bit": "log4-finetuned",
    }
    for model, precision in rows("wngt2020_table3.csv"):
        assert f"{model}/unpruned/{ours[precision]}" in variants


def test_wmt21_holds_every_row_of_its_tables():
    variants = {"/".join(variant) for variant in expand_variants(_paper_scale("wmt21.yaml"))}
    for (model,) in rows("wmt2021_table1.csv") - {("teacher_x3",)}:
        assert f"{model}/unpruned/float32" in variants
    for model, precision, recipe in rows("wmt2021_table2.csv"):
        recipe = recipe.replace("none", "unpruned")
        precision = {"8bit": "int8", "8bit+finetuning": "int8-finetuned"}.get(precision, precision)
        assert f"{model}/{recipe}/{precision}" in variants
    for model, precision in rows("wmt2021_table3.csv"):
        precision = {"float32": "float32", "log-4bit": "log4-finetuned"}[precision]
        assert f"{model}/unpruned/{precision}" in variants


def test_recipes_mean_the_same_as_in_the_paper():
    zoo = load_zoo()
    for key in ("encoder_layers", "heads"):
        assert zoo["multi30k.tiny"][key] == zoo["tiny"][key]


def test_the_pruning_experiment_compares_every_method_fairly():
    path = CONFIG / "pruning.yaml"
    config, zoo = check(read_yaml(path), str(path)), load_zoo()
    recipes = config["pruning"]
    used = {recipe["method"] for recipe in recipes.values()}
    assert used == {
        "late-reset", "one-shot", "depth", "group-lasso", "movement", "from-scratch"
    }  # fmt: skip
    student, *again = config["students"]
    others = {
        recipe: [b[1] for _, b in pairs] for (_, recipe), pairs in comparisons(config, zoo).items()
    }
    for name, baseline in {
        "pushy-i4": "random-24",
        "movement": "random",
        "rowcol-lasso": "rowcol-scratch",
    }.items():
        assert {"unpruned", baseline} <= set(others[name])
    methods, shape = methods_of(config), shape_of(zoo[student])
    assert methods["pushy-i4"].removes(shape).heads == 24
    (told,) = re.findall(r"^#   together +([\d,]+) updates", path.read_text(), re.MULTILINE)
    assert told == f"{updates_of_students(config, recipes):,}"
    (told,) = re.findall(r"its checkpoint and four recipes +([\d,]+) updates", path.read_text())
    names = ("pushy-i4", "random-24", "rowcol-lasso", "rowcol-scratch")
    assert told == f"{updates_of_students(config, {name: recipes[name] for name in names}):,}"
    over_seeds = comparisons_over_seeds(config, with_students(zoo, config["students"]))
    assert {len(by_seed) for by_seed in over_seeds[student]} == {1 + len(again)} == {3}
    assert methods["movement"].removes(shape).neurons >= 0.69 * 4 * zoo[student]["feed_forward"]


def updates_of_students(config: dict, recipes: dict) -> int:
    """Return the updates of all trainings of one student, unpruned and pruned by recipes, without fine-tuning."""
    whole = config["training"]["updates"]
    starts = {recipe.get("reset_to", 0) for recipe in recipes.values()}
    total = whole + sum(starts)  # one checkpoint for each
    for recipe in recipes.values():
        total += recipe.get("iterations", 0) * recipe.get("iteration_updates", 0)
        total += whole - recipe.get("reset_to", 0)
    return total
