"""Tables of variants and their controls, from invented results with known ratios."""

from dataclasses import replace

from tests.report.generation_results import cells, generation_results, without_controls
from weebill.experiment.pipelines import variants
from weebill.report.front import generation as front
from weebill.report.lookups.generation import fair_baseline
from weebill.report.pages.generation import in_short, tables_of
from weebill.report.tables.generation_controls import INT8, controls_table

PRUNED, CONTROL = "bart/fine-tuned/pruned", "bart/fine-tuned/as-long-as-pruned"


def test_scores_stand_beside_those_of_the_control():
    results = generation_results()
    one, other = (variants(results.config).index(name) + 1 for name in (PRUNED, CONTROL))
    table = controls_table(results, "summarization")
    row = cells(table, PRUNED)
    assert row["control"] == (CONTROL, "")
    score, control = (round(0.5 / number, 3) for number in (one, other))
    assert row["rouge_l"] == (f"{score:.3f}", f"x{score / control:.2f}")
    assert row["rouge_l_control"] == (f"{control:.3f}", "")
    assert row["rouge_l_control_low"] == (f"{0.45 / other:.3f}", "")
    assert INT8 in table.notes
    shown = {row.cells[0].text for row in table.rows}
    assert "bart/fine-tuned" not in shown and CONTROL not in shown
    text = controls_table(results, "language-modelling")
    assert {row.cells[0].text.split("/")[0] for row in text.rows} == {"gpt2"}


def test_the_first_page_and_the_sentences_compare_with_the_control():
    results = generation_results()
    row = cells(front.variants_table(results), PRUNED)
    one, other = (variants(results.config).index(name) + 1 for name in (PRUNED, CONTROL))
    ratio = round(0.5 / one, 3) / round(0.5 / other, 3)  # by shown values
    assert row["control"] == (f"{ratio:.2f}", "")
    line = next(line for line in in_short(results) if line.startswith(f"`{PRUNED}`:"))
    assert f"{other / one:.3f} × its control `{CONTROL}`'s" in line
    results.sizes[:] = [
        replace(size, parameter_bytes=1) if size.variant == PRUNED else size
        for size in results.sizes
    ]
    [sentence] = [one for one in front.front(results, [], []).verdict if one.startswith("`bart")]
    assert f"that of its control `{CONTROL}` {0.5 / other:.3f}" in sentence


def test_only_a_single_training_after_the_first_model_has_a_fair_baseline_of_its_own():
    results = generation_results()
    assert fair_baseline(results, PRUNED) == CONTROL
    assert fair_baseline(results, "bart/fine-tuned/distilled/pruned") == "bart/fine-tuned"


def test_nothing_speaks_of_controls_where_there_are_none():
    results = without_controls(generation_results())
    assert not any("control" in one.name for one in tables_of(results))
    assert "control" not in {one.key for one in front.variants_table(results).columns}
    assert not any("control" in line for line in in_short(results))
