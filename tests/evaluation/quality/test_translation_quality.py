"""Quality, compared with sacreBLEU's command line, and significance in constructed cases."""

import json
import subprocess
import sys
from dataclasses import asdict

import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from tests.evaluation.conftest import damaged
from weebill.errors import InputError
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality import translation_quality as quality

METRICS = {"bleu": BLEU, "chrf": CHRF}


@pytest.mark.parametrize("metric", METRICS)
def test_scores_and_intervals_equal_sacrebleus_command_line(tmp_path, references, metric):
    hypotheses = damaged(references, 0.2)
    (tmp_path / "ref").write_text("\n".join(references) + "\n", encoding="utf-8")
    (tmp_path / "hyp").write_text("\n".join(hypotheses) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", "-m", metric, "-w", "10"]
    command += ["--confidence", "--confidence-n", "200", "--format", "json"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    oracle = json.loads(output.stdout)
    ours, _ = quality.resampled(METRICS[metric](), hypotheses, references, 200)
    assert ours.score == pytest.approx(oracle["score"], abs=1e-9)
    assert (ours.low + ours.high) / 2 == pytest.approx(float(oracle["confidence_mean"]), abs=1e-6)
    assert (ours.high - ours.low) / 2 == pytest.approx(float(oracle["confidence_var"]), abs=1e-6)
    assert ours.signature == oracle["signature"]


@pytest.mark.parametrize("metric", METRICS.values())
def test_the_interval_contains_the_score_and_is_seeded(references, monkeypatch, metric):
    hypotheses = damaged(references, 0.3)
    first, samples = quality.resampled(metric(), hypotheses, references, 300)
    monkeypatch.setenv("SACREBLEU_SEED", "1")
    assert quality.resampled(metric(), hypotheses, references, 300) == (first, samples)
    assert first.low < first.score < first.high and len(samples) == 300
    assert f"seed:{quality.BOOTSTRAP_SEED}" in first.signature
    assert "bs:300" in first.signature


def p_values(hypotheses, baseline, references):
    """Return the p-values of BLEU and chrF."""
    metrics = BLEU(), CHRF()
    tested = [quality.score_both(one, hypotheses, baseline, references, 200) for one in metrics]
    return [paired.p_value for _, _, paired in tested]


def test_p_values_are_those_of_sacrebleus_paired_test(references):
    ours, theirs = damaged(references, 0.3, seed=2), damaged(references, 0.25)
    metrics = {"BLEU": BLEU(), "chrF": CHRF()}
    named = [("theirs", theirs), ("ours", ours)]
    _, found = PairedTest(named, metrics, [references], test_type="bs", n_samples=200)()
    expected = [results[1].p_value for name, results in found.items() if name != "System"]
    assert p_values(ours, theirs, references) == expected


def test_a_much_worse_system_differs_significantly(references):
    assert max(p_values(damaged(references, 0.5), damaged(references, 0.05), references)) < 0.05


def test_equally_good_systems_do_not_differ_significantly(references):
    # One or the other copy of the sentences is damaged.
    worse = damaged(references, 0.3)
    assert min(p_values(worse + references, references + worse, references * 2)) > 0.05


def test_the_same_translations_have_p_one(references):
    hypotheses = damaged(references, 0.2)
    assert p_values(hypotheses, list(hypotheses), references) == [1, 1]


def test_resamples_without_a_match_score_zero(references):
    hypotheses, references = ["qx"] * 9 + references[:1], references[1:10] + references[:1]
    found, _ = quality.resampled(BLEU(), hypotheses, references, 50)
    assert found.low < found.score < found.high


def test_a_missing_line_is_an_error(references):
    test_set = quality.TestSet("news", references, references)
    variants = {Variant("tiny", "unpruned", "float32"): references[:-1]}
    with pytest.raises(InputError, match="'news': 119 translations for 120 references"):
        quality.measure(variants, test_set, {}, bootstrap=100, target="de", seed=1)
    with pytest.raises(InputError, match="one line per pair"):
        quality.TestSet("news", references[:-1], references)
    with pytest.raises(InputError, match="'news' is empty"):
        quality.TestSet("news", [], [])


def test_a_measurement_names_everything_it_depends_on(references):
    test_set = quality.TestSet("news", [r.lower() for r in references], references)
    pruned = Variant.parse("tiny/pushy-i6/int8")
    texts = {pruned: damaged(references, 0.3), pruned.baseline: damaged(references, 0.1)}
    digests = {str(pruned): "ab", str(pruned.baseline): "cd"}
    rows = quality.measure(texts, test_set, digests, bootstrap=100, target="de", seed=3)
    assert [(row.model_sha256, row.metric) for row in rows] == [
        *(("ab", metric) for metric in ("BLEU", "chrF")),
        *(("cd", metric) for metric in ("BLEU", "chrF")),
    ]
    for row in rows:
        expected = "tiny/unpruned/float32" if row.recipe == "pushy-i6" else None
        assert row.compared_with == expected
        assert row.p_value is None if expected is None else 0 < row.p_value <= 1
        assert row.sentences == 120
        assert set(row.versions) == {"python", "torch", "sacrebleu", "weebill"}
        assert json.loads(json.dumps(asdict(row))) == asdict(row)
        assert "hardware" not in asdict(row)
