"""Fast scores, compared with float64 scores of single sentences, and with unbabel-comet if it is installed."""

import copy
import functools
import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import BertModel, XLMRobertaModel

from tests.metric.classes import VARIANTS, encoder_of
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
from weebill.benchmarks.metric import read_text
from weebill.benchmarks.metric.checkpoint import (
    HYPERPARAMETERS,
    SHAPES,
    write_random_checkpoint,
)
from weebill.corpus.origins import catalogue
from weebill.errors import InputError
from weebill.hugging_face.families import prunable
from weebill.kernels.extension import PORTABLE, available
from weebill.metric import reader
from weebill.metric.cache import VectorCache
from weebill.metric.folder import load_metric
from weebill.metric.reader import Reader
from weebill.metric.reference_scorer import PlainScorer
from weebill.metric.scorer import Scorer
from weebill.metric.sentence_vectors import SentenceVectors
from weebill.pruning.cut import cut


def score(folder, **options):
    """Score the tests' systems with our scorer."""
    scorer = Scorer(load_metric(folder), **options)
    return scorer.score(SYSTEMS, SOURCES, REFERENCES if scorer.needs_references else None)


class Plain:
    """COMET by its formulas (Rei et al. 2020), sentence by sentence, in float64."""

    def __init__(self, values, state):
        self.values = values
        kind = BertModel if values["encoder_model"] == "MiniLM" else XLMRobertaModel
        config = kind.config_class.from_pretrained(values["pretrained_model"])
        self.encoder = kind(config, add_pooling_layer=False).double().eval()
        self.encoder.load_state_dict(
            {
                name.removeprefix("encoder.model."): value
                for name, value in state.items()
                if name.startswith("encoder") and "pooler" not in name
            }
        )
        self.state = {name: value.double() for name, value in state.items()}
        self.tokenizer = Tokenizer.from_file(f"{values['pretrained_model']}/tokenizer.json")
        self.vector = functools.cache(self.vector)

    def vector(self, text):
        ids = self.tokenizer.encode(text).ids
        ids = torch.tensor([ids if len(ids) <= 62 else [*ids[:61], ids[-1]]])
        with torch.no_grad():
            states = self.encoder(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            ).hidden_states
        pool, layer = self.values["pool"], self.values["layer"]
        if pool == "default":
            return states[-1][0, 0]
        h = states[layer][0] if layer != "mix" else self.mix([one[0] for one in states])
        real = ids[0] != 1
        if pool == "cls":
            return h[0]
        return h[real].amax(0) if pool == "max" else h[real].sum(0) / len(real)

    def mix(self, states):
        name = "layerwise_attention.scalar_parameters."
        weights = torch.cat([self.state[f"{name}{i}"] for i in range(len(states))])
        if self.values["layer_transformation"] == "sparsemax":
            weights = simplex(weights)
        else:
            weights = weights.exp() / weights.exp().sum()
        if self.values["layer_norm"]:
            states = [(h - h.mean()) / (h.var(correction=0) + 1e-12).sqrt() for h in states]
        mixed = sum(w * h for w, h in zip(weights, states, strict=True))
        return self.state["layerwise_attention.gamma"] * mixed

    def score(self, mt, src, ref):
        s, t, r = self.vector(src), self.vector(mt), self.vector(ref)
        x = (
            [t, r, t * r, abs(t - r), t * s, abs(t - s)]
            if self.values["class_identifier"] == "regression_metric"
            else [t, s, t * s, abs(t - s)]
        )
        x, names = torch.cat(x), sorted(n for n in self.state if n.startswith("estimator"))
        for i in range(len(names) // 2):
            x = (
                self.state[f"estimator.ff.{3 * i}.weight"] @ x
                + self.state[f"estimator.ff.{3 * i}.bias"]
            )
            x = torch.tanh(x) if i < len(names) // 2 - 1 else x
        final = self.values["final_activation"]
        return float(x if final is None else 1 / (1 + torch.exp(-x)))


def simplex(x):
    """Return the nearest point to x in the simplex (numbers ≥ 0 that sum to 1), by bisection of the threshold."""
    low, high = x.min() - 1, x.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (x - middle).clamp(min=0).sum() > 1 else (low, middle)
    return (x - low).clamp(min=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_by_the_formulas(tmp_path, variant):
    values = hyperparameters(encoder_of(tmp_path, VARIANTS[variant]), **VARIANTS[variant])
    state = random_state(values)
    plain = Plain(values, state)
    found = score(write_checkpoint(tmp_path / "metric", values, state), batch_pieces=40)
    for name, lines in SYSTEMS.items():
        wanted = [plain.score(*row) for row in zip(lines, SOURCES, REFERENCES, strict=True)]
        assert np.ptp(wanted) > 1e-3
        np.testing.assert_allclose(found[name], wanted, atol=2e-6)


def test_scores_of_unbabel_comet(comet):
    """We and unbabel-comet give the same scores for checkpoints in its format that are written here."""
    for path, (wanted,) in comet["ours"].items():
        found = np.concatenate([*score(path).values()])
        np.testing.assert_allclose(found, wanted["scores"], atol=1e-5, err_msg=path)


def test_bfloat16_is_near(tmp_path):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    exact, rounded = score(folder), score(folder, precision="bfloat16")
    for name in SYSTEMS:
        assert exact[name].std() > 0.02
        np.testing.assert_allclose(rounded[name], exact[name], atol=0.01)
        assert (rounded[name] != exact[name]).any()
    with pytest.raises(InputError, match=r"precision 'bfloat8'.*did you mean 'bfloat16'"):
        score(folder, precision="bfloat8")


ENGINES = [*available(), PORTABLE]


def nearest_of_255(x):
    """Return each row rounded to multiples of 1/127 of its largest magnitude."""
    largest = x.abs().amax(-1, keepdim=True)
    scale = torch.where(largest > 0, 127 / largest, torch.ones_like(largest))
    return (x * scale).round() / scale


def rounded(metric):
    """Return the metric that int8 should equal: the encoder's linear maps have rounded weights and inputs."""
    with torch.no_grad():
        for module in metric.network.encoder.encoder.modules():
            if isinstance(module, nn.Linear) and module.weight.numel():
                module.weight.copy_(nearest_of_255(module.weight))
                module.register_forward_pre_hook(lambda _, given: (nearest_of_255(given[0]),))
    return metric


@pytest.mark.parametrize("number", range(len(ENGINES)), ids=ENGINES)
def test_int8_is_that_of_rounded_numbers(tmp_path, monkeypatch, number):
    """Whole and cut encoders take turns from engine to engine."""
    monkeypatch.setattr(reader, "fastest", lambda: ENGINES[number])
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    ours, same = load_metric(folder), load_metric(folder)
    if number % 2:
        for metric in (ours, same):
            view = prunable(metric.network.encoder)
            attentions, feed_forwards = view.attention_blocks(), view.feed_forward_blocks()
            cut(
                view,
                {attentions[0].name: range(4), attentions[1].name: range(1)},
                {feed_forwards[0].name: range(40), feed_forwards[1].name: range(7)},
            )
    exact = Scorer(ours).score(SYSTEMS, SOURCES, REFERENCES)
    found = Scorer(ours, "int8", batch_pieces=90).score(SYSTEMS, SOURCES, REFERENCES)
    wanted = PlainScorer(rounded(same)).score(SYSTEMS, SOURCES, REFERENCES)
    for name in SYSTEMS:
        np.testing.assert_allclose(found[name], wanted[name], atol=2e-6)
        np.testing.assert_allclose(found[name], exact[name], atol=0.01)
        assert np.abs(found[name] - exact[name]).max() > 1e-4


@pytest.mark.parametrize(
    "kind",
    [
        "regression_metric",
        pytest.param("referenceless_regression_metric", marks=pytest.mark.workflows),
    ],
)
def test_fewer_bits_keep_the_ranking_of_newstest2021(tmp_path, monkeypatch, kind, real_text):
    names = [name for name in catalogue() if name.startswith("news/wmt21.en-de/")]
    news = {real_text(name).parent for name in names}.pop()
    monkeypatch.setitem(HYPERPARAMETERS, "class_identifier", kind)
    shape = {"hidden_size": 128, "num_hidden_layers": 6, "num_attention_heads": 4}
    monkeypatch.setitem(SHAPES, "small", {**shape, "intermediate_size": 512})
    text = read_text(news, 20)
    lines = chain(text.sources, text.references, *text.systems.values())
    metric = load_metric(write_random_checkpoint(tmp_path / "metric", "small", lines))
    references = text.references if metric.network.architecture.needs_references else None
    exact, *others = (
        np.stack([*Scorer(metric, one).score(text.systems, text.sources, references).values()])
        for one in ("float32", "bfloat16", "int8")
    )
    assert np.ptp(exact.mean(1)) > 1e-3
    for found in others:
        np.testing.assert_allclose(found, exact, atol=0.01)
        assert list(found.mean(1).argsort()) == list(exact.mean(1).argsort())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_diverged_model_is_refused(tmp_path, precision):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    metric.network.estimator.linears[0].weight.data[0, 0] = torch.nan
    with pytest.raises(InputError, match="scores that are no numbers; the model has diverged"):
        Scorer(metric, precision).score(SYSTEMS, SOURCES, REFERENCES)


def test_int8_is_of_processors(tmp_path):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    with pytest.raises(InputError, match="int8 is computed on processors, not on cuda"):
        Scorer(metric, "int8", "cuda")
    metric.network.encoder.encoder.layer[1].output.dense.weight.data[0, 0] = torch.nan
    with pytest.raises(InputError, match="the model has diverged"):
        Scorer(metric, "int8").vectors(("sentences", ["Yes."]))


@pytest.mark.parametrize("device", ["gpu", "mps", "cuda:99", "meta"])
def test_a_device_that_is_not_here_is_named(device):
    with pytest.raises(InputError, match=f"device {device}: not (for models|available here)"):
        Scorer("not read", device=device)


def test_the_cache_may_be_a_file(tmp_path):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    plain = score(folder)
    for _ in range(2):
        np.testing.assert_equal(score(folder, cache=tmp_path / "vectors"), plain)
    assert (tmp_path / "vectors").stat().st_size > 0


def test_a_sentence_is_encoded_once(tmp_path, monkeypatch):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    seen = []
    encode = SentenceVectors._encode
    monkeypatch.setattr(
        SentenceVectors,
        "_encode",
        lambda self, texts, *more, **options: (
            seen.extend(texts) or encode(self, texts, *more, **options)
        ),
    )
    cache = tmp_path / "vectors.sqlite"
    fresh = score(folder, cache=VectorCache(cache))
    different = {*SOURCES, *REFERENCES, *SYSTEMS["good"], *SYSTEMS["bad"]}
    assert len(seen) == len(set(seen)) == len(different)
    again = score(folder, cache=VectorCache(cache))
    assert len(seen) == len(different)
    for name in SYSTEMS:
        np.testing.assert_array_equal(again[name], fresh[name])
    for number, precision in enumerate(("bfloat16", "int8"), start=2):  # own vectors
        score(folder, cache=VectorCache(cache), precision=precision)
        assert len(seen) == number * len(different)


def test_vectors_of_other_code_and_processors_are_others(tmp_path, monkeypatch):
    metric = load_metric(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))

    def fingerprint(*options):
        return SentenceVectors(Reader(metric, *options)).fingerprint

    found = {fingerprint(), fingerprint()}
    assert len(found) == 1
    monkeypatch.setattr(
        "weebill.metric.sentence_vectors.code_of_module", lambda *modules: "another"
    )
    found.add(fingerprint())
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "another")
    found.add(fingerprint())
    assert len(found) == 3
    found = {fingerprint(precision) for precision in ("float32", "int8")}
    monkeypatch.setattr("weebill.metric.sentence_vectors.fastest", lambda: "another")
    found |= {fingerprint(precision) for precision in ("float32", "int8")}
    assert len(found) == 3  # only int8 differs


def test_a_long_sentence_is_named(tmp_path, caplog):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    for _ in range(2):  # the second time, vectors come from the cache
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            score(folder, cache=VectorCache(tmp_path / "vectors.sqlite"))
        (line,) = caplog.messages
        pieces = len(
            Tokenizer.from_file(str(tmp_path / "encoder/tokenizer.json"))
            .encode(SYSTEMS["bad"][4])
            .ids
        )
        assert (
            line
            == f"bad:5: {pieces} pieces, cut to the first 62, which is all that the metric reads"
        )


def test_line_counts(tmp_path):
    encoder = make_encoder(tmp_path / "encoder")
    scorer = Scorer(load_metric(make_checkpoint(tmp_path / "metric", encoder)))
    systems = {"a.de": REFERENCES, "b.de": REFERENCES[:-1]}
    with pytest.raises(InputError, match=r"src\.en has 6, ref\.de has 6, a\.de has 6, b\.de has 5"):
        scorer.score(systems, SOURCES, REFERENCES, names=("src.en", "ref.de"))
    with pytest.raises(InputError, match="compares with references"):
        scorer.score(SYSTEMS, SOURCES)
    with pytest.raises(InputError, match="are empty"):
        scorer.score({"a": []}, [], [])
    other = {"class_identifier": "referenceless_regression_metric"}
    without = Scorer(load_metric(make_checkpoint(tmp_path / "other", encoder, **other)))
    with pytest.raises(InputError, match="reads no references"):
        without.score(SYSTEMS, SOURCES, REFERENCES)


def test_a_system_may_be_called_as_it_likes(tmp_path):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    systems = dict(zip(("sources", "references"), SYSTEMS.values(), strict=True))
    found = Scorer(load_metric(folder)).score(systems, SOURCES, REFERENCES)
    for one, other in zip(found.values(), score(folder).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_programs_give(tmp_path):
    """Generators are read; errors name a list of systems and a missing line."""
    scorer = Scorer(make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder")))
    wanted = scorer.score(SYSTEMS, SOURCES, REFERENCES)
    systems = {name: (line for line in lines) for name, lines in SYSTEMS.items()}
    found = scorer.score(systems, iter(SOURCES), (line for line in REFERENCES))
    for name in SYSTEMS:
        np.testing.assert_array_equal(found[name], wanted[name])
    with pytest.raises(InputError, match="expected a dictionary of lines by name"):
        scorer.score([REFERENCES], SOURCES, REFERENCES)
    with pytest.raises(InputError, match="bad: line 2 is None, expected a string"):
        scorer.score({"bad": ["Ja.", None]}, SOURCES, REFERENCES)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_scorer_that_has_scored_is_copied(tmp_path, precision):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    scorer = Scorer(folder, precision, cache=tmp_path / "vectors")
    wanted = scorer.score(SYSTEMS, SOURCES, REFERENCES)
    for made in (copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):
        assert made.precision == precision
        np.testing.assert_equal(made.score(SYSTEMS, SOURCES, REFERENCES), wanted)


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("stream", [False, True])
def test_threads_may_share_a_scorer(tmp_path, precision, stream):
    folder = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    scorer = Scorer(folder, precision, cache=tmp_path / "vectors", stream=stream)
    texts = [[f"{line} {number}" for line in SYSTEMS["bad"]] for number in range(6)]

    def found(lines):
        return scorer.score({"": lines}, SOURCES, REFERENCES)[""]

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(found, texts))
    for lines, one in zip(texts, together, strict=True):
        alone = Scorer(folder, precision).score({"": lines}, SOURCES, REFERENCES)[""]
        np.testing.assert_allclose(one, alone, atol=1e-6)
