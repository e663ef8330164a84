"""Movement pruning, compared with an explicit one; killed runs, compared with undisturbed ones; two devices."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
import torch
from torch.func import functional_call

from tests.pruning.interrupting import finish_despite_interruptions
from tests.pruning.killing import check_killed_anywhere_it_ends_the_same
from tests.pruning.masking import masked
from tests.pruning.toy import (
    HEAD_SIZE,
    HEADS,
    LAYERS,
    NEURONS,
    RATE,
    ToyStudy,
    outputs,
    small_translator,
    toy,
    toy_batch,
)
from tests.translation.training.test_pruning_study import CONFIG, studies_of_one_training, study_of
from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.pruning.cut import cut, silent
from weebill.pruning.method import lowest_share
from weebill.pruning.methods import companion_from_dict, companion_to_dict, pruning_method
from weebill.pruning.movement import Movement
from weebill.pruning.movement_gates import MovementScoring
from weebill.translation.model.folder import load_model
from weebill.translation.training.pruning_study import make_pruned

UPDATES = 9
METHOD = Movement(heads=0.5, neurons=0.6, score_rate=2.0, prune_updates=UPDATES, reset_to=4)
SCORING = MovementScoring(heads=0.5, neurons=0.6, prune_updates=UPDATES, blocks="*", seed=1)
STUDENT = Movement(
    heads=0.5,
    neurons=0.4,
    ranking="global",
    score_rate=0.1,
    prune_updates=5,
    reset_to=4,
    blocks="*",
)


@pytest.fixture(scope="module", params=["layer", "global"])
def undisturbed(request, tmp_path_factory):
    torch.set_num_threads(1)
    method = replace(METHOD, ranking=request.param)
    return method, method.prune(ToyStudy(), tmp_path_factory.mktemp("undisturbed"))


def by_hand(ranking):
    """Train with weights times masks, and gradients times weights, without gates, cuts or code of the library.

    Returns (closed heads and neurons of the last update by layer, the same for all updates, final outputs).
    """
    study, generator = ToyStudy(), torch.Generator().manual_seed(1)
    model = study.checkpoint(4)
    kinds = {"o": (0.5, HEADS, HEAD_SIZE), "down": (0.6, NEURONS, 1)}
    scores = {
        part: list(torch.rand(LAYERS * count, generator=generator).split(count))
        for part, (_, count, _) in kinds.items()
    }
    parameters = dict(model.named_parameters())
    seen = []
    for update in range(1, UPDATES + ToyStudy.convergence + 1):
        if update <= 8:  # first update after 85 % of 9
            progress = min(1.0, update / (0.85 * UPDATES))
            closed = {}
            for part, (final, _, _) in kinds.items():
                share = final - (final - 0) * (1 - progress) ** 3
                values = {layer: score.tolist() for layer, score in enumerate(scores[part])}
                closed[part] = lowest_share(values, share, ranking)
            seen.append(closed)
        masks, acting = {}, {}
        for part, (_, count, size) in kinds.items():
            for layer in range(LAYERS):
                mask = torch.ones(count, size)
                mask[closed[part][layer]] = 0.0
                masks[f"layers.{layer}.{part}.weight"] = mask.flatten()
        for name, mask in masks.items():
            acting[name] = (parameters[name] * mask).detach().requires_grad_()
        x, real = toy_batch(4 + update)
        others = {name: value for name, value in parameters.items() if name not in acting}
        found = functional_call(model, acting, (x, real))
        loss = (found - x.cumsum(1))[real].pow(2).mean()
        names = [*others, *acting]
        gradients = torch.autograd.grad(loss, [*others.values(), *acting.values()])
        with torch.no_grad():
            for name, gradient in zip(names, gradients, strict=True):
                if name in acting:
                    _, layer, part, _ = name.split(".")
                    products = (gradient * parameters[name]).sum(0)
                    by_place = products.unflatten(0, (-1, kinds[part][2])).sum(1)
                    scores[part][int(layer)] -= 2.0 * by_place
                    gradient = gradient * masks[name]
                parameters[name] -= RATE * gradient
    acting = {name: parameters[name] * mask for name, mask in masks.items()}
    with torch.no_grad():
        return closed, seen, functional_call(model, acting, toy_batch(7))


def test_what_goes_and_what_is_learnt_are_those_of_movement_by_hand(undisturbed):
    method, pruned = undisturbed
    closed, seen, expected = by_hand(method.ranking)
    [step] = pruned.history["steps"]
    for kind, part, name in [("heads", "o", "attention"), ("neurons", "down", "neurons")]:
        removed = {f"encoder.{layer}.{name}": gone for layer, gone in closed[part].items() if gone}
        assert step["removed"][kind] == removed
        masked_in = [{(layer, n) for layer, gone in c[part].items() for n in gone} for c in seen]
        assert any(early - late for early, late in pairwise(masked_in)), "none came back"
    torch.testing.assert_close(outputs(pruned.model), expected, rtol=0, atol=1e-5)
    assert sum(block.heads for block in pruned.model.attention_blocks()) == LAYERS * HEADS // 2
    left = [block.neurons for block in pruned.model.feed_forward_blocks()]
    assert sum(left) == LAYERS * 4
    assert (left == [4] * LAYERS) == (method.ranking == "layer")


def test_killed_anywhere_it_ends_the_same(undisturbed, tmp_path):
    method, pruned = undisturbed
    seed = {"layer": 1, "global": 2}[method.ranking]  # other moments for each
    check_killed_anywhere_it_ends_the_same(seed, method, pruned, tmp_path)


def test_the_masked_share_grows_from_none_to_all_at_the_end_of_its_time():
    settings = replace(SCORING, prune_updates=400)
    assert settings.progress(0) == 0.0
    assert settings.progress(340) == settings.progress(400) == 1.0
    assert 1 - 1e-6 < settings.progress(339) < 1.0
    assert settings.progress(170) == pytest.approx(1 - 0.5**3)
    assert replace(settings, reached_at=1.0).progress(200) == pytest.approx(1 - 0.5**3)


@pytest.mark.parametrize("ranking", ["layer", "global"])
def test_gates_close_as_the_ranking_says(ranking):
    gates = replace(SCORING, ranking=ranking).companion(toy())
    for kind, width in [("heads", HEADS), ("neurons", NEURONS)]:
        scored = gates.kinds[kind]
        with torch.no_grad():
            scored.scores.mul_(4).floor_()  # many equal ones
        scores = dict(enumerate(part.tolist() for part in scored.scores.split(width)))
        for share in (0.0, 0.2, 0.3, 0.5, 0.77, 1.0):
            scored.close(share, ranking)
            closed = lowest_share(scores, share, ranking)
            for layer in range(LAYERS):
                expected = [float(n not in closed[layer]) for n in range(width)]
                assert scored.gates(layer).tolist() == expected


def test_first_scores_are_uniform_and_of_the_seed():
    model = small_translator("ssru")
    first, again, other = (
        torch.cat([kind.scores.detach() for kind in gates.kinds.values()])
        for gates in (replace(SCORING, seed=seed).companion(model) for seed in (1, 1, 2))
    )
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert len(first.unique()) == len(first) == 3 * 4 + 3 * 24
    assert 0 <= first.min() < 0.1 and 0.9 < first.max() <= 1


def test_finished_cut_and_gated_models_are_the_same():
    model = toy()
    gates = SCORING.companion(model)
    gates.before_update(UPDATES - 1)
    with gates.attached():
        expected = outputs(model)
    gates.finish()
    torch.testing.assert_close(outputs(model), expected, rtol=0, atol=1e-6)
    heads = {block.name: silent(block) for block in model.attention_blocks()}
    neurons = {block.name: silent(block) for block in model.feed_forward_blocks()}
    assert {len(gone) for gone in heads.values()} == {2}
    assert {len(gone) for gone in neurons.values()} == {6}
    untouched = toy()
    with masked(untouched, heads, neurons):
        assert torch.equal(outputs(untouched), expected)
    cut(model, heads, neurons)
    torch.testing.assert_close(outputs(model), expected, rtol=0, atol=1e-5)


def test_settings():
    assert companion_from_dict(companion_to_dict(SCORING)) == SCORING
    assert pruning_method({"method": "movement", "heads": 0.5}) == Movement(heads=0.5)


@pytest.mark.parametrize("shares", [{"heads": 0.2}, {"neurons": 0.09}, {"blocks": "decoder.*"}])
def test_settings_that_remove_nothing_are_refused_before_training(shares, tmp_path):
    method = replace(METHOD, **({"heads": 0.0, "neurons": 0.0} | shares))
    with pytest.raises(InputError, match=r"of blocks '.*' are none"):
        method.prune(ToyStudy(tick=lambda: pytest.fail("trained")), tmp_path)


def test_a_student_interrupted_at_every_checkpoint_ends_the_same(data, monkeypatch):
    def pruned(name):
        make_pruned(data / name, data / f"{name}.json", "moved", STUDENT, study_of(data))

    pruned("undisturbed")
    interrupted = data / "interrupted"
    make = partial(pruned, "interrupted")
    assert finish_despite_interruptions(interrupted, make, monkeypatch) == 2 + 2
    assert content_hash(data / "interrupted") == content_hash(data / "undisturbed")
    history = read_json(data / "interrupted.json")
    assert history == read_json(data / "undisturbed.json")

    model = load_model(data / "interrupted")
    assert model.config["lineage"]["course"]["updates"] == CONFIG.updates - 4 - 5
    heads = {block.name: block.heads for block in model.network.attention_blocks()}
    neurons = {block.name: block.neurons for block in model.network.feed_forward_blocks()}
    for found, survivors in [(heads, "heads"), (neurons, "neurons")]:
        left = history["survivors"][survivors]
        assert found == {name: len(numbers) for name, numbers in left.items()}
    assert sum(heads.values()) == 3 * 4 - 6
    assert sum(neurons.values()) == 3 * 24 - 28


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_two_devices_score_as_one_that_accumulates_two_batches(
    precision, data, tmp_path, forked_devices
):
    scoring = MovementScoring(
        heads=0.5, neurons=0.4, score_rate=0.1, prune_updates=3, blocks="*", seed=1
    )
    trained = []
    for study in studies_of_one_training(data, precision=precision):
        network = study.checkpoint(4)
        work = tmp_path / str(len(trained))
        study.train(network, start_update=4, updates=3, work=work, companion=scoring)
        trained.append(network)
    for one, other in zip(*(network.attention_blocks() for network in trained), strict=True):
        assert len(silent(one)) == 2 and silent(one) == silent(other)
    tolerance = 1e-4 if precision == "float32" else 3e-2
    torch.testing.assert_close(*(n.state_dict() for n in trained), rtol=0, atol=tolerance)


def test_a_student_without_updates_left_to_converge_is_refused(data, tmp_path):
    method = replace(STUDENT, prune_updates=CONFIG.updates - 4)
    with pytest.raises(InputError, match="its 14 updates leave nothing of 14 updates"):
        make_pruned(tmp_path / "a", tmp_path / "a.json", "moved", method, study_of(data))
