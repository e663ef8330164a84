"""Cut metrics: the remaining parts give the scores; parts that matter least to the loss are removed."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.metric.comet_environment import COMET, need_comet
from tests.metric.small import (
    REFERENCES,
    SOURCES,
    SYSTEMS,
    hyperparameters,
    make_checkpoint,
    make_encoder,
    random_state,
    write_checkpoint,
)
from weebill.errors import InputError
from weebill.files import content_hash, read_json
from weebill.hugging_face.families import prunable
from weebill.metric import pruning
from weebill.metric.cache import VectorCache
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.judgements import is_held_out
from weebill.metric.pruning import MetricStudy, make_pruned, prune, remove_top_layers
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.pruning.criteria import CRITERIA, Candidates, gradient
from weebill.pruning.cut import gated
from weebill.pruning.depth import Depth
from weebill.pruning.even import Even
from weebill.pruning.one_shot import OneShot

TOP = Depth(layers=1)
OTHERS = ("MiniLM", "BERT", "RemBERT")


def shares(neurons=0.0, heads=0.0, **settings):
    """Return a method that removes given shares of each layer."""
    return OneShot(neurons=neurons, heads=heads, **{"ranking": "layer", "blocks": "*"} | settings)


@pytest.mark.parametrize("transformation", ["softmax", "sparsemax"])
def test_the_mix_is_of_what_is_left(tmp_path, transformation):
    encoder = make_encoder(tmp_path / "encoder")
    path = make_checkpoint(tmp_path / "metric", encoder, layer_transformation=transformation)
    whole, metric = load_metric(path), load_metric(path)
    with pytest.raises(InputError, match="leave none"):
        remove_top_layers(metric.network, 3)
    remove_top_layers(metric.network, 2)
    save_metric(tmp_path / "cut", metric, {})
    found = Scorer(load_metric(tmp_path / "cut")).score(SYSTEMS, SOURCES, REFERENCES)
    with torch.no_grad():
        whole.network.mix.weights[2:] = -1e9  # softmax weight 0
    wanted = Scorer(whole).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6)


def test_a_cut_metric_has_vectors_of_its_own(tmp_path):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    cache = VectorCache()
    text = ("sources", SOURCES)
    (before,) = Scorer(metric, cache=cache).vectors(text)
    remove_top_layers(metric.network, 1)
    (cut,) = Scorer(metric, cache=cache).vectors(text)
    assert not torch.allclose(cut, before)
    torch.testing.assert_close([cut], Scorer(metric).vectors(text), rtol=0, atol=0)


def test_layers_that_are_needed(tmp_path):
    metric = load_metric(
        make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"), layer=2)
    )
    before = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    with pytest.raises(InputError, match="reads layer 2; 1 would be left"):
        remove_top_layers(metric.network, 2)
    remove_top_layers(metric.network, 1)
    cut = Scorer(metric).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_array_equal(cut[name], before[name])


@pytest.fixture
def segments():
    """Return all segments of all systems, with scores."""
    rows = [
        {"src": source, "mt": line, "ref": reference, "score": number / 3 - len(line) / 40}
        for lines in SYSTEMS.values()
        for number, (source, line, reference) in enumerate(
            zip(SOURCES, lines, REFERENCES, strict=True)
        )
    ]
    return pd.DataFrame(rows * 2)


def load(tmp_path, **other):
    path, family = tmp_path / "metric", other.get("encoder_model", "XLM-RoBERTa")
    if not path.exists():
        make_checkpoint(path, make_encoder(tmp_path / "encoder", family), **other)
    return load_metric(path)


def scores(metric):
    scorer = Scorer(metric)
    references = REFERENCES if scorer.needs_references else None
    return np.concatenate([*scorer.score(SYSTEMS, SOURCES, references).values()])


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"layer_norm": True, "pool": "max"},
        {"class_identifier": "referenceless_regression_metric", "pool": "cls"},
        {"pool": "default"},
    ],
)
def test_importance_is_the_gradient_of_a_factor(tmp_path, segments, other):
    """A factor of 1 multiplies the output of each head or neuron; its gradient is summed batch by batch."""
    metric = load(tmp_path, **other)
    model = prunable(metric.network.encoder)
    study = MetricStudy(metric, segments, seed=1)
    candidates = Candidates.named(model, "*", heads=True, neurons=True)
    found = gradient(study, model, candidates)
    assert all(one.requires_grad and one.grad is None for one in metric.network.parameters())
    texts = ("mt", "src", "ref") if metric.network.architecture.needs_references else ("mt", "src")
    lengths = sum(segments[name].str.len() for name in texts)
    ordered = segments.iloc[np.argsort(lengths.to_numpy(), kind="stable")]
    assert len(ordered) == 24  # batches of 16 and 8
    blocks = {block.name: (block, block.heads) for block in candidates.attention}
    blocks |= {block.name: (block, block.neurons) for block in candidates.feed_forward}
    wanted = {name: torch.zeros(count) for name, (_, count) in blocks.items()}
    for batch in (ordered[:16], ordered[16:]):
        gates = {name: torch.ones(len(one), requires_grad=True) for name, one in wanted.items()}
        with ExitStack() as stack:
            for name, (block, _) in blocks.items():
                stack.enter_context(gated(block, lambda gate=gates[name]: gate))
            estimates = PlainScorer(metric).estimates([batch[one].tolist() for one in texts])
        target = torch.tensor(batch["score"].to_numpy(), dtype=torch.float32)
        ((estimates - target) ** 2).mean().backward()
        for name, factors in gates.items():
            wanted[name] += factors.grad.abs()
    for name, expected in wanted.items():
        assert expected.max() > 0
        values = torch.tensor((found.heads | found.neurons)[name]).float()
        torch.testing.assert_close(values, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("family", ["XLM-RoBERTa", *OTHERS])
def test_cut_is_masked(tmp_path, segments, family):
    metric, whole = (load(tmp_path, encoder_model=family) for _ in range(2))
    history = prune(metric, [TOP, shares(0.25, 0.5)], MetricStudy(metric, segments, seed=1))
    remove_top_layers(whole.network, 1)
    with torch.no_grad():
        for number, layer in enumerate(whole.network.encoder.encoder.layer):
            heads = history.heads[f"encoder.{number}.self_attention"]
            neurons = history.neurons[f"encoder.{number}.feed_forward"]
            assert (len(heads), len(neurons)) == (2, 30)
            for head in set(range(4)) - set(heads):
                layer.attention.output.dense.weight[:, 6 * head : 6 * head + 6] = 0
            layer.output.dense.weight[:, sorted(set(range(40)) - set(neurons))] = 0
    save_metric(tmp_path / "cut", metric, {})
    config = read_json(tmp_path / "cut/config.json")["encoder"]
    assert config["num_hidden_layers"] == 2
    assert set(config["layer_shapes"]["heads"].values()) == {2}
    assert set(config["layer_shapes"]["neurons"].values()) == {30}
    np.testing.assert_allclose(scores(load_metric(tmp_path / "cut")), scores(whole), atol=1e-6)


RECIPES = {  # methods, and what each layer keeps: layers, heads, neurons
    "depth": ([Depth(layers=2)], (1, 4, 40)),
    "heads": ([shares(heads=0.5)], (3, 2, 40)),
    "neurons": ([shares(neurons=0.5)], (3, 4, 20)),
    "all": ([TOP, shares(0.25, 0.25)], (2, 3, 30)),
    "even": ([Even(encoder_layers=1, neurons=0.4, multiple=8)], (2, 4, 24)),
}


def test_unbabel_comet_scores_masked_encoders_as_we_score_cut_ones(tmp_path, segments):
    """The encoders have BERT's class, like DISTIL-COMET's; unbabel-comet only supports layers of equal shapes."""
    need_comet()
    ours = {}
    for family in OTHERS:
        folder = tmp_path / family
        folder.mkdir()
        load(folder, encoder_model=family)
        values = hyperparameters(folder / "encoder", encoder_model=family)
        for name, (methods, left) in RECIPES.items():
            metric = load(folder)
            history = prune(metric, methods, MetricStudy(metric, segments, seed=1))
            save_metric(folder / f"cut-{name}", metric, {})
            cut = load_metric(folder / f"cut-{name}")
            model = prunable(cut.network.encoder)
            heads, neurons = model.attention_blocks(), model.feed_forward_blocks()
            assert len(heads) == left[0]
            assert {block.heads for block in heads} == {left[1]}
            assert {block.neurons for block in neurons} == {left[2]}
            state = masked(random_state(values), len(heads), history)
            path = write_checkpoint(folder / f"masked-{name}", values, state)
            ours[str(path)] = scores(cut)
    make_encoder(tmp_path / "xlm-roberta-base")  # unbabel-comet reads MiniLM's tokenizer here
    samples = [
        {"mt": mt, "src": source, "ref": reference}
        for lines in SYSTEMS.values()
        for mt, source, reference in zip(lines, SOURCES, REFERENCES, strict=True)
    ]
    task, answer = tmp_path / "task.json", tmp_path / "answer.json"
    task.write_text(json.dumps({"write": {}, "score": {path: [samples] for path in ours}}))
    oracle = Path(__file__).with_name("oracle.py").resolve()
    subprocess.run([COMET, oracle, task, answer], cwd=tmp_path, check=True, capture_output=True)
    for path, ([theirs]) in read_json(answer).items():
        assert np.ptp(theirs["scores"]) > 1e-3
        np.testing.assert_allclose(ours[path], theirs["scores"], atol=1e-5, err_msg=path)


def masked(state, layers, history):
    """Return a checkpoint's tensors with zeros for removed heads and neurons, and no weight for removed layers."""
    for number in range(3):
        if number >= layers:
            state[f"layerwise_attention.scalar_parameters.{number + 1}"][:] = -1e9
            continue
        name = f"encoder.model.encoder.layer.{number}"
        if heads := history.heads.get(f"encoder.{number}.self_attention"):
            for head in {0, 1, 2, 3} - {*heads}:
                state[f"{name}.attention.output.dense.weight"][:, 6 * head : 6 * head + 6] = 0
        if neurons := history.neurons.get(f"encoder.{number}.feed_forward"):
            state[f"{name}.output.dense.weight"][:, sorted({*range(40)} - {*neurons})] = 0
    return state


def test_what_is_silent_goes_and_is_not_missed(tmp_path, segments):
    metric = load(tmp_path)
    silent = {0: 1, 1: 3, 2: 0}  # layer: head
    with torch.no_grad():
        for number, layer in enumerate(metric.network.encoder.encoder.layer):
            head = silent[number]
            layer.attention.output.dense.weight[:, 6 * head : 6 * head + 6] = 0
            layer.output.dense.weight[:, number : number + 10] = 0
    before = scores(metric)
    history = prune(metric, [shares(0.25, 0.25)], MetricStudy(metric, segments, seed=1))
    for number, head in silent.items():
        assert history.heads[f"encoder.{number}.self_attention"] == sorted({0, 1, 2, 3} - {head})
        gone = set(range(40)) - set(history.neurons[f"encoder.{number}.feed_forward"])
        assert gone == set(range(number, number + 10))
    np.testing.assert_allclose(scores(metric), before, atol=1e-6)


def judged_table(folder, segments):
    """Write the segments as a table of human judgements."""
    rows = ["lp\tsystem\tseg_id\tsource\treference\thypothesis\tda"]
    for number, row in enumerate(segments.to_dict("records")):
        cells = (row["src"], row["ref"], row["mt"].strip(), row["score"])
        rows.append("\t".join(map(str, ("en-de", "s", number, *cells))))
    path = folder / "da.tsv"
    path.write_text("\n".join(rows))
    return path


def test_a_pruned_metric_from_judgements(tmp_path, segments):
    load(tmp_path)
    entries = [{"table": str(judged_table(tmp_path, segments)), "score": "da"}]
    # 2 of 3 layers, 24 of 40 neurons and 3 of 4 heads remain.
    one_shot = {
        "method": "one-shot",
        "neurons": 0.4,
        "heads": 0.26,
        "ranking": "layer",
        "blocks": "*",
    }
    recipe = [{"method": "depth", "layers": 1}, one_shot]
    for name in ("one", "two"):
        make_pruned(
            tmp_path / name, str(tmp_path / "metric"), recipe, entries, 10, 1, "table", 1e-9
        )
    assert content_hash(tmp_path / "one") == content_hash(tmp_path / "two")
    config = read_json(tmp_path / "one/config.json")
    assert set(config["encoder"]["layer_shapes"]["neurons"].values()) == {24}
    assert [len(heads) for heads in config["lineage"]["heads"].values()] == [3, 3]
    assert config["lineage"]["segments"] == 10
    assert config["lineage"]["recipe"] == recipe
    assert np.ptp(scores(load_metric(tmp_path / "one"))) > 0


def test_importance_is_of_the_scores_that_were_learnt(tmp_path, segments, monkeypatch):
    """Scores are normalised as for the reference, or fitted to a checkpoint's scale; validation is left out."""
    metric = load(tmp_path)
    entries = [{"table": str(judged_table(tmp_path, segments)), "score": "da"}]
    top, seen = [{"method": "depth", "layers": 1}], []

    def noted(metric, methods, study):
        seen.append(study.segments)
        return prune(metric, methods, study)

    monkeypatch.setattr(pruning, "prune", noted)
    for normalise in ("none", "table", None):
        output, path = tmp_path / f"by-{normalise}", str(tmp_path / "metric")
        make_pruned(output, path, top, entries, 1000, 1, normalise, 0.5)
    raw, normal, own = (some.sort_index() for some in seen)
    kept = [row for row in segments.to_dict("records") if not is_held_out(row["src"], 0.5)]
    assert 0 < len(kept) < len(segments)
    assert raw["score"].tolist() == [row["score"] for row in kept]
    assert np.corrcoef(raw["score"], normal["score"])[0, 1] == pytest.approx(1)
    texts = (raw[name].tolist() for name in ("mt", "src", "ref"))
    scores = PlainScorer(metric).estimates(list(texts)).detach().numpy()
    line = np.polyval(np.polyfit(raw["score"], scores, 1), raw["score"])
    np.testing.assert_allclose(own["score"], line, atol=1e-5)
    with pytest.raises(InputError, match="no judged source is left; lower"):
        make_pruned(tmp_path / "none", path, top, entries, 1000, 1, "none", 1 - 1e-12)
    with pytest.raises(InputError, match=r"2 judged segments, .* leave no loss to prune by"):
        make_pruned(tmp_path / "none", path, top, entries, 2, 1, None, 0.5)


def test_nothing_and_too_much(tmp_path, segments):
    study = MetricStudy(load(tmp_path), segments, seed=1)
    with pytest.raises(InputError, match=r"heads 0.2 and neurons 0.0 .* are none; raise one"):
        prune(study.metric, [shares(heads=0.2)], study)
    with pytest.raises(InputError, match=r"nothing would be left of encoder.0.self_attention"):
        prune(study.metric, [shares(heads=1.0)], study)
    study = MetricStudy(load(tmp_path), segments, seed=1)
    prune(study.metric, [shares(0.999)], study)
    [left] = {b.neurons for b in prunable(study.metric.network.encoder).feed_forward_blocks()}
    assert left == 1


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_of_the_other_families(tmp_path, segments, criterion):
    """The half that scores lowest is removed."""
    study, other = (MetricStudy(load(tmp_path), segments, seed=1) for _ in range(2))
    history = prune(study.metric, [shares(heads=0.5, criterion=criterion)], study)
    model = prunable(other.metric.network.encoder)
    candidates = Candidates.named(model, "*", heads=True, neurons=False)
    for name, scores in CRITERIA[criterion](other, model, candidates).heads.items():
        assert set(history.heads[name]) == set(np.argsort(scores)[len(scores) // 2 :])
