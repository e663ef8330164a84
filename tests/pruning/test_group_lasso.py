"""Group lasso, compared with an explicit one; killed runs, compared with undisturbed ones; and two devices."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.pruning.interrupting import finish_despite_interruptions
from tests.pruning.killing import check_killed_anywhere_it_ends_the_same
from tests.pruning.test_group_penalty import flat, members, norm
from tests.pruning.toy import (
    HEAD_SIZE,
    HEADS,
    LAYERS,
    NEURONS,
    RATE,
    ToyStudy,
    outputs,
    small_translator,
    toy_batch,
)
from tests.translation.training.test_pruning_study import CONFIG, studies_of_one_training, study_of
from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.pruning.cut import cut
from weebill.pruning.group_lasso import GroupLasso
from weebill.pruning.group_penalty import Lasso, group_norms
from weebill.pruning.methods import companion_from_dict, companion_to_dict, pruning_method
from weebill.translation.model.folder import load_model
from weebill.translation.training.pruning_study import make_pruned
from weebill.yaml_files import read_yaml

WMT21 = Path(__file__).parents[2] / "config/wmt21.yaml"
# The penalty is strong, because the toy has only a few updates.
TOY = {"threshold": 0.6, "reset_to": 4, "regularise_updates": 7}
ROWCOL = GroupLasso(strength=12.0, **TOY)
METHODS = {
    "rowcol": ROWCOL,
    "heads": replace(ROWCOL, groups="head", threshold=0.7),
    "scaled": replace(ROWCOL, strength=4.0, size_scaling=True),
    "reset": replace(ROWCOL, reset=True),
}


@pytest.fixture(scope="module", params=METHODS)
def undisturbed(request, tmp_path_factory):
    torch.set_num_threads(1)
    method = METHODS[request.param]
    return method, method.prune(ToyStudy(), tmp_path_factory.mktemp("undisturbed"))


def blocks_of(model, pattern="encoder"):
    blocks = [*model.attention_blocks(), *model.feed_forward_blocks()]
    return [block for block in blocks if block.name.startswith(pattern)]


def norms_of(model, grouping):
    return {b.name: [list(map(norm, m)) for m in members(b, grouping)] for b in blocks_of(model)}


def weight(settings, group):
    """Return the factor of a group's norm in the penalty."""
    return settings.strength * (len(flat(group)) ** 0.5 if settings.size_scaling else 1.0)


def by_hand(method, work):
    """Run the phases with loops over groups; return (removed heads, removed neurons, final model)."""
    study = ToyStudy()
    model = study.checkpoint(4)
    before = norms_of(model, method.groups)
    groups = [g for b in blocks_of(model) for m in members(b, method.groups) for g in m]
    for update in range(5, 12):
        former = [(group, flat(group), norm(group)) for group in groups]
        study._update(model, update)
        with torch.no_grad():
            for group, values, length in former:
                amount = RATE * weight(method, group)
                moved = flat(group) - amount * values / length  # also a step along its gradient
                for part, new in zip(group, moved.split([p.numel() for p in group]), strict=True):
                    part.copy_(new.view_as(part))
    heads, neurons = {}, {}
    for name, maps in norms_of(model, method.groups).items():
        dead = [
            [value <= method.threshold * sum(old) / len(old) for value in new]
            for old, new in zip(before[name], maps, strict=True)
        ]
        if name.endswith("neurons"):
            neurons[name] = [n for n in range(NEURONS) if dead[0][n] or dead[1][n]]
            continue
        each = len(dead[0]) // HEADS
        counts = [sum(sum(d[each * h : each * (h + 1)]) for d in dead) for h in range(HEADS)]
        heads[name] = [head for head in range(HEADS) if counts[head] >= 2 * each]
    if method.reset:
        model = study.checkpoint(4)
    cut(model, heads, neurons)
    study.train(model, start_update=4 if method.reset else 11, updates=None, work=work)
    return heads, neurons, model


def test_what_goes_and_what_is_learnt_are_those_of_the_phases_by_hand(undisturbed, tmp_path):
    method, pruned = undisturbed
    heads, neurons, model = by_hand(method, tmp_path)
    for removed, every in [(heads, LAYERS * HEADS), (neurons, LAYERS * NEURONS)]:
        assert 0 < sum(map(len, removed.values())) < every, "the test says little"
    [step] = pruned.history["steps"]
    assert step["removed"]["heads"] == {name: gone for name, gone in heads.items() if gone}
    assert step["removed"]["neurons"] == {name: gone for name, gone in neurons.items() if gone}
    torch.testing.assert_close(outputs(pruned.model), outputs(model), rtol=0, atol=1e-5)
    for name, scores in step["scores"].items():
        low = [head for head, share in scores.items() if share <= 0.5]
        assert low == list(map(str, heads[name]))


def test_killed_anywhere_it_ends_the_same(undisturbed, tmp_path):
    method, pruned = undisturbed
    seed = 3 + list(METHODS.values()).index(method)  # other moments for each
    check_killed_anywhere_it_ends_the_same(seed, method, pruned, tmp_path)


@pytest.mark.parametrize("settings", [{}, {"groups": "head"}, {"size_scaling": True}])
@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_penalty_is_that_of_loops(settings, side):
    model = small_translator("attention")
    settings = Lasso(strength=0.3, blocks=f"{side}.*", **settings)
    companion = settings.companion(model)
    groups = [g for b in blocks_of(model, side) for m in members(b, settings.groups) for g in m]
    expected = sum(weight(settings, group) * norm(group) for group in groups)
    assert companion.penalty().item() == pytest.approx(expected, rel=1e-5)
    assert not list(companion.parameters()) and not companion.state_dict()


class Watched(ToyStudy):
    """Study that keeps the penalty instead of training with it."""

    def train(self, model, *, companion=None, **_):
        if companion is not None:
            self.model, self.penalty = model, companion.companion(model).penalty()


def watched(method, tmp_path):
    study = Watched()
    method.prune(study, tmp_path)
    return study


def differentiable_norms(model):
    """Compute Σ ‖w_g‖ over the groups of the encoder, by loops."""
    groups = [g for b in blocks_of(model) for m in members(b, "rowcol") for g in m]
    return sum(torch.cat([part.reshape(-1) for part in group]).norm() for group in groups)


@pytest.mark.parametrize("name", ["head-lasso", "rowcol-lasso"])
def test_the_printed_strength_can_be_written_in_both_readings(name, tmp_path):
    """WMT21 §3.1: λ = 0.5; the configuration's words make it one of a sum, one word makes it one of a mean."""
    recipe = read_yaml(WMT21)["pruning"][name]
    printed = pruning_method(recipe)
    assert printed.strength == 0.5
    assert (printed.reset_to, printed.regularise_updates) == (50_000, 150_000)
    short = replace(printed, reset_to=4, regularise_updates=2)
    by_hand = replace(short, strength=0.5 / 60_000, words=1)
    of_sum, converted, of_mean = (
        watched(method, tmp_path / place).penalty.item()
        for place, method in [
            ("sum", short),
            ("by hand", by_hand),
            ("mean", replace(short, words=1)),
        ]
    )
    assert of_sum == pytest.approx(converted, rel=1e-6)
    assert of_mean == pytest.approx(60_000 * of_sum, rel=1e-6)


def test_words_make_the_strength_one_of_their_summed_loss(tmp_path):
    """The gradient of Σ loss + λ Σ ‖w‖ is the words' number times that of their mean loss and our penalty."""
    x, mask = toy_batch(5)
    words = int(mask.sum())
    method = GroupLasso(strength=0.7, words=words, reset_to=4, regularise_updates=2)
    study = watched(method, tmp_path)
    model, parameters = study.model, list(study.model.parameters())
    summed = (model(x, mask) - x.cumsum(1))[mask].pow(2).sum() / x.shape[-1]
    expected = torch.autograd.grad(summed + 0.7 * differentiable_norms(model), parameters)
    ours = torch.autograd.grad(study.loss(model, x, mask) + study.penalty, parameters)
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(words * one, other)


class Doctored(ToyStudy):
    """Study that changes the weights by hand instead of training with a companion."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def train(self, model, *, companion=None, **arguments):
        if companion is None:
            return super().train(model, **arguments)
        with torch.no_grad():
            self.change(model)


def removed(change, tmp_path, **settings):
    method = GroupLasso(reset_to=4, regularise_updates=2, **settings)
    history = method.prune(Doctored(change), tmp_path).history
    return history["steps"][0]["removed"]


@pytest.mark.parametrize("dead", [5, 6])
def test_a_head_goes_at_half_of_its_connections(dead, tmp_path):
    """Head 1 has 12 connections; those of its key are zero, and some of its output."""

    def change(model):
        layer = model.layers[2]
        layer.k.weight[HEAD_SIZE : 2 * HEAD_SIZE] = 0.0
        layer.k.bias[HEAD_SIZE : 2 * HEAD_SIZE] = 0.0
        layer.v.weight[HEAD_SIZE] = 0.0  # its bias is not zero
        layer.v.bias[HEAD_SIZE] = 1.0
        layer.o.weight[:, HEAD_SIZE : HEAD_SIZE + dead - HEAD_SIZE] = 0.0

    found = removed(change, tmp_path)
    assert found == {"heads": {"encoder.2.attention": [1]} if dead == 6 else {}, "neurons": {}}


@pytest.mark.parametrize("dead", [1, 2])
def test_a_head_goes_at_half_of_its_matrices(dead, tmp_path):
    def change(model):
        layer = model.layers[0]
        layer.o.weight[:, :HEAD_SIZE] = 0.0
        if dead == 2:
            layer.q.weight[:HEAD_SIZE] = 0.0
            layer.q.bias[:HEAD_SIZE] = 0.0
        layer.k.weight[: HEAD_SIZE - 1] = 0.0  # not the whole head

    found = removed(change, tmp_path, groups="head")
    assert found == {"heads": {"encoder.0.attention": [0]} if dead == 2 else {}, "neurons": {}}


def test_a_neuron_goes_with_its_inner_or_outer_connection(tmp_path):
    def change(model):
        layer = model.layers[1]
        layer.up.weight[2], layer.up.bias[2] = 0.0, 0.0
        layer.up.weight[3] = 0.0  # its bias is not zero
        layer.down.weight[:, 7] = 0.0

    found = removed(change, tmp_path)
    assert found == {"heads": {}, "neurons": {"encoder.1.neurons": [2, 7]}}


def test_dead_is_a_share_of_the_mean_norm_of_the_map_before(tmp_path):
    model = ToyStudy().checkpoint(4)
    (_, _, block) = model.feed_forward_blocks()
    inner, outer = group_norms(block, "rowcol").mean(1).tolist()

    def change(model):
        model.layers[2].up.weight[:], model.layers[2].up.bias[:] = 0.0, 0.0
        model.layers[2].down.weight[:] = 0.0
        for neuron in range(NEURONS):  # tenths of the previous means
            model.layers[2].up.bias[neuron] = inner * (neuron + 0.5) / 10
            model.layers[2].down.weight[0, neuron] = outer * (9.5 - neuron) / 10

    found = removed(change, tmp_path, threshold=0.2)
    assert found == {"heads": {}, "neurons": {"encoder.2.neurons": [0, 1, 8, 9]}}


def test_everything_may_die_or_nothing(tmp_path, caplog):
    all_dead = replace(ROWCOL, threshold=1e9).prune(ToyStudy(), tmp_path / "all").model
    assert [block.heads for block in all_dead.attention_blocks()] == [0] * LAYERS
    assert [block.neurons for block in all_dead.feed_forward_blocks()] == [0] * LAYERS
    assert torch.isfinite(outputs(all_dead)).all()
    assert not caplog.text
    none = replace(ROWCOL, strength=1e-6, threshold=0.0).prune(ToyStudy(), tmp_path / "none")
    assert none.history["steps"][0]["removed"] == {"heads": {}, "neurons": {}}
    assert "nothing died; raise strength or regularise_updates" in caplog.text


@pytest.mark.parametrize("groups", ["rowcol", "head"])
def test_a_student_that_lacks_heads_can_be_pruned(groups, tmp_path):
    class Lacking(ToyStudy):
        def checkpoint(self, updates):
            model = super().checkpoint(updates)
            cut(model, {"encoder.1.attention": range(HEADS)})
            return model

    pruned = replace(ROWCOL, groups=groups).prune(Lacking(), tmp_path)
    assert pruned.history["survivors"]["heads"]["encoder.1.attention"] == []


def test_settings():
    settings = Lasso(groups="head", strength=0.2)
    assert companion_from_dict(companion_to_dict(settings)) == settings
    recipe = {"method": "group-lasso", "groups": "head", "regularise_updates": 3}
    assert pruning_method(recipe) == GroupLasso(groups="head", regularise_updates=3)


def test_blocks_that_the_student_lacks_are_refused_before_training(tmp_path):
    method = replace(ROWCOL, blocks="decoder.*")
    with pytest.raises(InputError, match=r"no blocks 'decoder\.\*'; mend the pattern"):
        method.prune(ToyStudy(tick=lambda: pytest.fail("trained")), tmp_path)


def prune_student(data, name, **settings):
    method = GroupLasso(reset_to=4, regularise_updates=5, **settings)
    make_pruned(data / name, data / f"{name}.json", "lasso", method, study_of(data))
    return load_model(data / name)


def test_a_student_interrupted_at_every_checkpoint_ends_the_same(data, monkeypatch):
    settings = {"strength": 0.01, "threshold": 0.85}
    prune_student(data, "undisturbed", **settings)

    def make():
        prune_student(data, "interrupted", **settings)

    assert finish_despite_interruptions(data / "interrupted", make, monkeypatch) == 2 + 2
    assert content_hash(data / "interrupted") == content_hash(data / "undisturbed")
    history = read_json(data / "interrupted.json")
    assert history == read_json(data / "undisturbed.json")

    model = load_model(data / "interrupted")
    assert model.config["lineage"]["course"]["updates"] == CONFIG.updates - 4 - 5
    survivors = history["survivors"]
    for layer, shape in enumerate(model.network.architecture.encoder):
        assert shape.heads == len(survivors["heads"][f"encoder.{layer}.self_attention"])
        assert shape.feed_forward == len(survivors["neurons"][f"encoder.{layer}.feed_forward"])
    gone = history["steps"][0]["removed"]
    assert gone["heads"] and gone["neurons"], "the test says little"
    (decoder,) = model.network.architecture.decoder
    assert (decoder.heads, decoder.feed_forward) == (4, 24)


def test_a_student_may_lose_all_of_its_encoder(data):
    network = prune_student(data, "empty", threshold=1e9).network
    shapes = network.architecture.encoder
    assert [(shape.heads, shape.feed_forward) for shape in shapes] == [(0, 0)] * 2


def test_two_devices_train_as_one_that_accumulates_two_batches(data, tmp_path, forked_devices):
    lasso = Lasso(strength=0.01)
    trained = []
    for study in studies_of_one_training(data):
        network = study.checkpoint(4)
        work = tmp_path / str(len(trained))
        study.train(network, start_update=4, updates=2, work=work, companion=lasso)
        # The loss does not depend on biases of keys: Adam makes steps of rounding errors.
        state = network.state_dict()
        trained.append({name: state[name] for name in state if not name.endswith("key.bias")})
    torch.testing.assert_close(*trained, rtol=0, atol=1e-4)
