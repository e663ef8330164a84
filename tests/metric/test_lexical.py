"""BLEU and chrF of sentences: BLEU's tokens for each target language, and published agreement with people."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.hugging_face.test_sizes import printed
from weebill.errors import InputError
from weebill.metric.judged_scores import scores_of
from weebill.metric.judged_set import JudgedSet, kendall_tau_b
from weebill.metric.judgements import is_machine, read_judgements
from weebill.metric.lexical import lexical_scores, lexical_signature

HEAD = "system\tseg_id\tlp\tsource\treference\thypothesis\tmqm"
REFERENCE = "猫は部屋の中で静かに眠っています。"
BETTER, WORSE = "猫は部屋の中で眠っています。", "犬が外を走っていた。"


def judged(path, pairs):
    """Write a judged set with a better and a worse translation into each target."""
    rows = [
        f"{system}\t1\t{pair}\ts {pair}\t{REFERENCE}\t{text}\t{score}"
        for pair in pairs
        for system, text, score in (("A", BETTER, -1), ("B", WORSE, -9))
    ]
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    entry = {"table": str(path), "score": "mqm", "statistic": "mqm", "humans": False}
    return JudgedSet.read("x", entry)


@pytest.mark.parametrize("target", ["ja", "ko", "zh_CN"])
def test_bleu_by_the_target_language(tmp_path, target):
    """BLEU uses sacreBLEU's tokenizer for the language; with words as tokens, the two texts have equal scores."""
    found = scores_of("BLEU", judged(tmp_path / "table.tsv", [f"en-{target}"]), [], None)
    language = target[:2]
    expected, token = BLEU(trg_lang=language), f"tok:{language}"
    one, other = (expected.sentence_score(text, [REFERENCE]).score for text in (BETTER, WORSE))
    assert found.scores.tolist() == [pytest.approx(one), pytest.approx(other)]
    assert token in found.signature
    assert found.scores[0] > 40 > 10 > found.scores[1]
    assert np.ptp(lexical_scores("BLEU", [BETTER, WORSE], [REFERENCE] * 2)) == 0


def test_other_languages_have_the_tokens_they_had():
    texts = ["Der Hund bellt laut.", "Ein Hund bellt."], ["Der Hund bellt."] * 2
    for targets in (["de", "de"], ["", ""], ()):
        assert lexical_scores("BLEU", *texts, targets).tolist() == [
            BLEU().sentence_score(one, [other]).score for one, other in zip(*texts, strict=True)
        ]
    signature = lexical_signature("BLEU", ["de", ""])
    assert signature == lexical_signature("BLEU") and signature.count("tok:13a") == 1


def test_a_table_of_several_targets(tmp_path):
    found = scores_of("BLEU", judged(tmp_path / "table.tsv", ["en-de", "en-zh"]), [], None)
    expected = [
        BLEU(trg_lang=target).sentence_score(text, [REFERENCE]).score
        for target in ("de", "zh")
        for text in (BETTER, WORSE)
    ]
    assert found.scores.tolist() == pytest.approx(expected)
    assert "tok:13a" in found.signature and "tok:zh" in found.signature


@pytest.mark.parametrize(
    ("file", "domain"),
    [
        pytest.param("mqm_newstest2021_en-de", "news", marks=pytest.mark.workflows),
        ("mqm_ted_en-de", "ted"),
    ],
)
def test_lexical_metrics_as_published(file, domain, real_text):
    """COMETINHO table 1 does not name its systems; we use the eight that translated both texts."""
    judged = read_judgements(real_text(f"mqm/{file}.tsv"), "mqm")
    judged = judged[judged["system"].map(is_machine)]
    assert judged["system"].nunique() == 8
    for metric in ("BLEU", "chrF"):
        scores = lexical_scores(metric, judged["mt"], judged["ref"])
        value = float(printed("cometinho_table1.csv", metric=metric)[f"en-de_{domain}"])
        assert kendall_tau_b(scores, judged["score"]) == pytest.approx(value, abs=0.02)


def test_a_metric_of_another_name():
    with pytest.raises(InputError, match=r"metric 'chrf', expected BLEU or chrF; did you mean"):
        lexical_scores("chrf", ["a"], ["a"])
