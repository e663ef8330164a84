"""Late resetting: the schedule, compared with an explicit one, and killed runs, compared with undisturbed ones."""

import logging

import pytest
import torch

from tests.changed_library import changed_library
from tests.pruning.killing import check_killed_anywhere_it_ends_the_same
from tests.pruning.toy import HEADS, LAYERS, ToyStudy, toy_batch
from weebill.errors import InputError
from weebill.pruning import late_reset
from weebill.pruning.history import head_rows, to_csv
from weebill.pruning.late_reset import LateReset
from weebill.pruning.methods import METHODS, pruning_method
from weebill.workflow import code_version

SCHEDULE = LateReset(heads_per_iteration=3, iterations=3, reset_to=4, iteration_updates=5)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    torch.set_num_threads(1)
    return SCHEDULE.prune(ToyStudy(), tmp_path_factory.mktemp("undisturbed"))


def by_hand():
    """Run the schedule on whole models with removed heads kept at zero; return (removed heads, final model).

    Nothing is cut: a head's columns of the output map are set to zero before training and after
    every update, so the head has no effect.
    """
    study, gone, history = ToyStudy(), set(), []

    def silence(model):
        with torch.no_grad():
            for layer, head in gone:
                model.layers[layer].o.weight[:, 3 * head : 3 * head + 3] = 0.0

    def train(first, updates):
        model = study.checkpoint(4)
        silence(model)
        for update in range(first + 1, first + updates + 1):
            study._update(model, update)
            silence(model)
        return model

    for _ in range(3):
        model, scores = train(4, 5), {}
        for layer in range(LAYERS):
            seen = []
            model.layers[layer].recorder = lambda w, m, seen=seen: seen.append((w, m))
            with torch.no_grad():
                for seed in (101, 102):
                    model(*toy_batch(seed))
            for head in set(range(HEADS)) - {h for index, h in gone if index == layer}:
                largest = [w.amax(-1)[:, head][m] for w, m in seen]
                scores[layer, head] = float(torch.cat(largest).double().mean())
        least = sorted(scores, key=scores.get)[:3]
        gone.update(least)
        history.append([(f"encoder.{layer}.attention", head) for layer, head in least])
    return history, train(4, ToyStudy.convergence)


def test_heads_and_weights_are_those_of_the_schedule_by_hand(undisturbed):
    expected, model = by_hand()
    removed = [removed_heads(step) for step in undisturbed.history["steps"]]
    assert removed == [sorted(heads) for heads in expected]
    gone = [head for iteration in expected for head in iteration]
    for block in undisturbed.model.attention_blocks():
        survivors = undisturbed.history["survivors"]["heads"][block.name]
        assert survivors == [head for head in range(HEADS) if (block.name, head) not in gone]
        assert block.heads == len(survivors)
    with torch.no_grad():
        x, mask = toy_batch(7)
        torch.testing.assert_close(undisturbed.model(x, mask), model(x, mask), rtol=0, atol=1e-5)


def removed_heads(step):
    """Return (block, head) of all heads that a step removed, in order."""
    return [(block, head) for block, heads in step["removed"]["heads"].items() for head in heads]


@pytest.mark.parametrize("seed", [1, 3])
def test_killed_anywhere_it_ends_the_same(seed, undisturbed, tmp_path):
    check_killed_anywhere_it_ends_the_same(seed, SCHEDULE, undisturbed, tmp_path)


def test_work_of_another_schedule_is_not_continued(undisturbed, tmp_path):
    other = LateReset(heads_per_iteration=3, iterations=3, reset_to=4, iteration_updates=2)
    other.prune(ToyStudy(), tmp_path)
    assert SCHEDULE.prune(ToyStudy(), tmp_path).history == undisturbed.history


def test_work_of_other_code_is_not_continued(undisturbed, tmp_path, monkeypatch, caplog):
    """The other code is an example of code that chooses other heads."""
    lowest = late_reset.lowest

    def highest(scores, count, protected):
        return lowest(scores, sum(map(len, scores.values())))[-count:]

    with monkeypatch.context() as change:
        change.setattr(code_version, "ROOT", changed_library(tmp_path, "pruning/method.py"))
        change.setattr(late_reset, "lowest", highest)
        other = SCHEDULE.prune(ToyStudy(), tmp_path / "work").history
    assert other["survivors"] != undisturbed.history["survivors"]
    with caplog.at_level(logging.INFO):
        pruned = SCHEDULE.prune(ToyStudy(), tmp_path / "work")
    assert pruned.history == undisturbed.history
    assert "work: begun with other code; starting over" in caplog.text


def test_all_heads_may_go_but_not_more(tmp_path):
    everything = LateReset(HEADS * LAYERS, iterations=1, reset_to=1, iteration_updates=1)
    pruned = everything.prune(ToyStudy(), tmp_path / "all")
    assert [block.heads for block in pruned.model.attention_blocks()] == [0] * LAYERS
    more = LateReset(heads_per_iteration=7, iterations=2, reset_to=1, iteration_updates=1)
    with pytest.raises(InputError, match=r"2 iterations of 7 heads remove 14, .* has 12 in blocks"):
        more.prune(ToyStudy(), tmp_path / "more")


def test_recipes_of_the_configuration():
    pushy = {"heads_per_iteration": 6, "iterations": 6, "reset_to": 25_000}
    recipe = {"method": "late-reset", **pushy, "iteration_updates": 15_000}
    assert pruning_method(recipe) == LateReset(6, 6, "confidence", 25_000, 15_000)
    assert {"late-reset", "one-shot", "depth", "from-scratch"} <= set(METHODS)
    with pytest.raises(InputError, match="did you mean 'late-reset'"):
        pruning_method({"method": "late-rezet"})
    with pytest.raises(InputError, match="no key 'iteration'; did you mean 'iterations'"):
        pruning_method({"method": "late-reset", "iteration": 3})


def test_the_head_map_accounts_for_every_head(undisturbed):
    rows = head_rows(undisturbed.history)
    assert [(row["block"], row["head"]) for row in rows] == [
        (f"encoder.{layer}.attention", head) for layer in range(LAYERS) for head in range(HEADS)
    ]
    for number in (1, 2, 3):
        went = [row for row in rows if row["removed_in"] == number]
        assert len(went) == 3
        left = [row for row in rows if row["removed_in"] in (None, *range(number + 1, 4))]
        if number == 3:
            assert max(r["score"] for r in went) <= min(r["score"] for r in left)
    lines = to_csv({"student": "s", "recipe": "r", **row} for row in rows).splitlines()
    assert lines[0] == "student,recipe,block,head,removed_in,score"
    assert len(lines) == 1 + HEADS * LAYERS
