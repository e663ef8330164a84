"""Tables, figures and page of a generation experiment, from made-up measurements."""

from dataclasses import replace

import pytest

from tests.configuration.test_generation import CONFIG
from weebill.configuration.checking import check
from weebill.evaluation.quality.generation_quality import GenerationQuality
from weebill.evaluation.size.generation_size import GenerationSize
from weebill.evaluation.timing.generation_speed import GenerationSpeed
from weebill.report.generation_figures import pruning_maps, threshold_schedule
from weebill.report.generation_page import generation_page, in_short, tables_of
from weebill.report.generation_results import GenerationResults
from weebill.report.generation_tables import PIECES, SCORES, paper_table, variants_table
from weebill.report.rendering import to_markdown
from weebill.report.table import Table
from weebill.yaml_files import read_yaml

WHOLE = "bart/fine-tuned/distilled/pruned/trained-int8/int8"


@pytest.fixture(scope="module")
def results() -> GenerationResults:
    config = check(read_yaml(CONFIG / "generation-small.yaml"), "x")
    found = GenerationResults(config, [], [], [], {})
    for number, variant in enumerate(found.variants, start=1):
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
    found.prunings["bart/fine-tuned/pruned"] = record
    return found


def cells(table: Table, variant: str) -> dict[str, tuple[str, str]]:
    row = next(row for row in table.rows if row.cells[0].text == variant)
    return {
        column.key: (cell.text, cell.delta)
        for column, cell in zip(table.columns, row.cells, strict=True)
    }


def test_variants_are_compared_with_their_models_first(results):
    table = variants_table(results, "summarization")
    assert [row.cells[0].text for row in table.rows] == results.variants_for("summarization")
    assert [row.kind for row in table.rows].count("baseline") == 1
    row = cells(table, WHOLE)  # the fifth
    assert row["rouge_l"] == ("0.100", "x0.20") and row["rouge_l_low"] == ("0.090", "")
    assert row["mib"] == ("1.60", "x0.20") and row["seconds"] == ("0.180", "x0.20")
    assert row["peak_mib"] == ("50.0", "x1.00")
    lead = replace(results.qualities[0], variant="bart: lead", signature="lead:64")
    led = variants_table(replace(results, leads=[lead]), "summarization")
    assert led.rows[0].cells[0].text == "bart: lead" and led.rows[1:] == table.rows
    assert cells(led, "bart: lead")["mib"] == ("", "")
    assert led.notes[0].startswith("`lead`: what the articles begin with")
    assert any(note.startswith("`lead:64`") for note in led.notes)
    text = variants_table(results, "language-modelling")
    base = text.rows[0].cells[0].text
    assert cells(text, base)["perplexity"][1] == ""
    assert any("900 tokens" in note for note in text.notes)


def piped(results: GenerationResults, *pipelines: str) -> GenerationResults:
    """The results of pipelines "MODEL/STEP/STEP…", with two GPT-2s and a pruning of the vocabulary; equal scores."""
    models = results.config["models"]
    models = {**models, "small": models["gpt2"], "large": models["gpt2"]}
    steps = {**results.config["steps"], "used-pieces": {"method": "prune-vocabulary"}}
    paths = [path.split("/") for path in pipelines]
    listed = [{"model": path[0], "steps": path[1:]} for path in paths]
    config = {**results.config, "models": models, "steps": steps, "pipelines": listed}
    scores = [one for one in results.qualities if one.variant == "gpt2/fine-tuned"]
    found = replace(results, config=config, qualities=[], sizes=[], speeds=[], leads=[])
    named = [replace(one, variant=name) for name in found.variants for one in scores]
    return replace(found, qualities=named)


def test_perplexity_is_not_compared_across_vocabularies(results):
    found = piped(
        results,
        "small/fine-tuned/distilled-shortly",
        "small/fine-tuned/used-pieces",
        "large/used-pieces/fine-tuned",
        "bart/fine-tuned/used-pieces",
    )
    table = variants_table(found, "language-modelling")
    for variant, delta in {
        "small/fine-tuned/distilled-shortly": "x1.00",
        "small/fine-tuned/used-pieces": "",
        "large/used-pieces/fine-tuned": "x1.00",  # its model's first has these pieces too
    }.items():
        row = cells(table, variant)
        assert row["perplexity"][1] == delta and row["bits_per_byte"][1] == "x1.00"
        told = "perplexity" if delta else "bits per byte"
        assert any(line.startswith(f"`{variant}`: {told} 1.000 ×") for line in in_short(found))
    assert PIECES in table.notes
    assert PIECES not in variants_table(found, "summarization").notes
    same = variants_table(piped(results, "large/used-pieces/fine-tuned"), "language-modelling")
    assert PIECES not in same.notes


@pytest.mark.parametrize(
    ("small", "large", "chosen"),
    [
        (
            "fine-tuned",
            "fine-tuned/distilled-shortly",
            ["large/fine-tuned", "large/fine-tuned/distilled-shortly"],
        ),
        (
            "fine-tuned/distilled-shortly",
            "fine-tuned/distilled-shortly",
            ["small/fine-tuned", "small/fine-tuned/distilled-shortly"],
        ),
        ("distilled-shortly", "fine-tuned", ["large/fine-tuned", ""]),
    ],
)
def test_a_papers_table_is_beside_one_model(results, small, large, chosen):
    table = paper_table(piped(results, f"small/{small}", f"large/{large}"), 2)
    assert [row.cells[1].text for row in table.rows] == chosen


@pytest.mark.parametrize(
    ("number", "row", "ours"),
    [
        (1, "student", "bart/fine-tuned/distilled"),
        (3, "pruned", "bart/fine-tuned/pruned"),
        (5, "quantized", "bart/fine-tuned/trained-int8/int8"),
        (6, "quantized", WHOLE),
        (7, "pruned", "gpt2/fine-tuned/distilled-shortly/pruned-shortly"),
    ],
)
def test_ours_stand_where_the_same_steps_were_taken(results, number, row, ours):
    table = paper_table(results, number)
    found = cells(table, row)
    assert found["ours"] == (ours, "")
    first = cells(table, table.rows[0].cells[0].text)
    assert first["ours"][0].count("/") == 1
    size = next(one for one in results.sizes if one.variant == ours)
    assert found["size_gb_ours"][0] == f"{size.parameter_bytes / 2**30:.4f}"


def test_the_papers_own_numbers_and_slips(results):
    table = paper_table(results, 7)
    found = cells(table, "quantized")
    assert found["perplexity"] == ("65.66", "x3.60")
    assert cells(table, "distilled")["perplexity"] == ("31.98", "x1.75")
    assert any("47.41 more" in note for note in table.notes)
    assert any("0.559" in note and "0.599" in note for note in paper_table(results, 6).notes)
    assert cells(paper_table(results, 6), "quantized")["size_gb"] == ("0.34", "x0.23")


def test_figures_show_the_schedule_and_what_went(results):
    rows = next(iter(threshold_schedule(results).to_dict()["datasets"].values()))
    assert {(row["series"].rsplit(" ", 1)[1], row["update"], row["share"]) for row in rows} == {
        ("heads", 1, 0.0), ("heads", 2, 25.0), ("neurons", 1, 10.0), ("neurons", 2, 60.0),
    }  # fmt: skip
    rows = [row for part in pruning_maps(results).to_dict()["datasets"].values() for row in part]
    runs = {(row["block"], row["first"], row["end"]): row["fate"] for row in rows}
    assert runs == {
        ("a", 0, 1): "removed", ("a", 1, 2): "kept",
        ("b", 0, 1): "kept", ("b", 1, 3): "removed", ("b", 3, 4): "kept",
    }  # fmt: skip


def test_the_page_has_all_of_it(results):
    assert len(tables_of(results)) == 9
    run_time = tables_of(results)[0]
    page = generation_page(results, run_time, {"Figure": "figures/x.svg"})
    for table in tables_of(results):
        assert to_markdown(table) in page
    assert "![Figure](figures/x.svg)" in page
    line = next(line for line in in_short(results) if line.startswith(f"`{WHOLE}`"))
    assert "ROUGE-L 0.200 ×" in line and "0.200 × its bytes" in line and "5.00 × as fast" in line
