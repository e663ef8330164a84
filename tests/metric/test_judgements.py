"""Tables of judgements: rows, names of people, BLEU's tokens by the target language, and published figures."""

import gzip
import hashlib
import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from tests.hugging_face.test_sizes import printed
from weebill.errors import InputError
from weebill.metric.judged_scores import scores_of
from weebill.metric.judged_set import JudgedSet, kendall_tau_b
from weebill.metric.judgements import (
    averaged,
    is_held_out,
    is_machine,
    lexical_scores,
    lexical_signature,
    read_judgements,
    require_references,
)

HEAD = "system\tseg_id\tlp\tsource\treference\thypothesis\tmqm"
REFERENCE = "猫は部屋の中で静かに眠っています。"
BETTER, WORSE = "猫は部屋の中で眠っています。", "犬が外を走っていた。"
PEOPLE = ["ref-A", "ref-D", "refA", "REF_B", "ref", "Human-A.0", "Human-B.0", "Human-P.0"]
SYSTEMS = [
    "Refinement-NMT",
    "Humanoid",
    "ref-NMT",
    "ref.NMT",
    "Reference-free",
    "Online-A.0",
    "Facebook-AI",
    "Human-like-MT",
]


@pytest.mark.parametrize("system", [*PEOPLE, "HUMAN", "human.c", "metricsystem3"])
def test_people_are_no_systems(system):
    """These are WMT's names for people from 2019 to 2022."""
    assert not is_machine(system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_systems_that_sound_like_people(system):
    assert is_machine(system)


def test_tables_of_windows(tmp_path):
    """A byte-order mark and CRLF belong to no cell, wherever they are, also in compressed files."""
    text = f"{HEAD}\r\nref-A\t1\ten-de\ts\tr\th\t-1\r\n"
    path = tmp_path / "judged.tsv.gz"
    path.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    found = read_judgements(path, "mqm", by_system=True)
    assert found["system"].tolist() == ["ref-A"] and found["score"].tolist() == [-1]
    last = text.replace("system\t", "").replace("ref-A\t", "").replace("\tmqm", "\tmqm\tsystem")
    path.write_bytes(gzip.compress(last.replace("-1\r", "-1\tref-A\r").encode()))
    assert read_judgements(path, "mqm", by_system=True)["system"].tolist() == ["ref-A"]


def judged(path, pairs):
    """Make a set with a better and a worse translation into each target."""
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
    """BLEU uses sacreBLEU's tokens for the language; by words, these two texts score alike."""
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
    ("file", "domain"), [("mqm_newstest2021_en-de", "news"), ("mqm_ted_en-de", "ted")]
)
def test_lexical_metrics_as_published(file, domain, real_text):
    """COMETINHO table 1 does not name its systems: we take the eight that translated both texts."""
    judged = read_judgements(real_text(f"mqm/{file}.tsv"), "mqm")
    judged = judged[judged["system"].map(is_machine)]
    assert judged["system"].nunique() == 8
    for metric in ("BLEU", "chrF"):
        scores = lexical_scores(metric, judged["mt"], judged["ref"])
        value = float(printed("cometinho_table1.csv", metric=metric)[f"en-de_{domain}"])
        assert kendall_tau_b(scores, judged["score"]) == pytest.approx(value, abs=0.02)


def test_direct_assessments_are_read(real_text):
    judged = read_judgements(real_text("da/da_wmt17_to-en.tsv"), "da_z")
    assert len(judged) == 3920
    assert len({segment.split()[0] for segment in judged["segment"]}) == 7


def test_scores_of_several_assessors_are_averaged(tmp_path):
    """Judgements of another text with the same number, or another system, stay; lone scores keep their bits."""
    path = tmp_path / "judged.tsv"
    rows = ("A\t1\ts\tr\th\t3", "B\t1\ts\tr\th\t-0.0", "A\t1\ts\tr\th\t-1", "A\t1\ts\tr\tg\t5")
    path.write_text("\n".join(["system\tseg_id\tsource\treference\thypothesis\tmqm", *rows]) + "\n")
    found = averaged(read_judgements(path, "mqm"))
    assert found[["system", "mt", "score"]].values.tolist() == [
        ["A", "h", 1.0],
        ["B", "h", 0.0],
        ["A", "g", 5.0],
    ]
    alone = averaged(read_judgements(path, "mqm").iloc[1:2])
    assert math.copysign(1, alone["score"].item()) == -1


def test_the_held_out_share_is_that_of_a_hash():
    sources = [f"source {number}" for number in range(500)]
    for share in (0.0, 0.05, 0.5, 1.0):
        digests = [hashlib.sha256(source.encode()).digest()[:6] for source in sources]
        wanted = [int.from_bytes(digest, "big") / 2**48 < share for digest in digests]
        assert [is_held_out(source, share) for source in sources] == wanted


def test_a_metric_with_references_needs_them():
    require_references(["", "a"], "K")
    for references in ([], ["", " "]):
        with pytest.raises(InputError, match="K: compares with references, and the table has none"):
            require_references(references, "K")


def test_tables_that_are_wrong(tmp_path):
    path = tmp_path / "judged.tsv"
    heading = "system\tseg_id\tsource\treference\thypothesis\tmqm\n"
    for text, match in (
        (heading.replace("mqm", "mpm"), "no column 'mqm'; did you mean 'mpm'"),
        (heading, "no judgements"),
        (heading + "A\t1\ts\tr\th\t0\nA\t2\ts\th\t-1\n", ":3: 5 columns, expected 6"),
        (heading + "A\t1\ts\tr\th\tgood\n", ":2: mqm is 'good', no number"),
        (heading + "A\t1\ts\tr\th\tnan\n", ":2: mqm is 'nan', no number"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=match):
            read_judgements(path, "mqm")
    path.write_text(heading.replace("system", "sytem"))
    with pytest.raises(InputError, match=r"no column 'system', .*; did you mean 'sytem'"):
        read_judgements(path, "mqm", by_system=True)
    with pytest.raises(InputError, match=r"metric 'chrf', expected BLEU or chrF; did you mean"):
        lexical_scores("chrf", ["a"], ["a"])
