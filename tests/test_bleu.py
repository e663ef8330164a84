"""BLEU's tokenizer for each language, as sacreBLEU advises; FLORES-200's pieces come from a local server."""

import hashlib
import io
import sys

import pytest
import sentencepiece
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers import tokenizer_spm

from tests.corpus.serving import serving
from weebill import bleu as module
from weebill.bleu import bleu, tokenizer_of
from weebill.configuration.fetching import missing_tokenizers
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError

THAI = "สถานีรถไฟอยู่ที่ไหนครับ ขอบคุณมากสำหรับความช่วยเหลือของคุณเมื่อวานนี้"


@pytest.fixture
def pieces(tmp_path, monkeypatch):
    """Serve a small model of pieces in place of FLORES-200's; return the site."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([THAI] * 20), model_writer=model, vocab_size=35, minloglevel=2
    )
    monkeypatch.setattr("weebill.corpus.download.ATTEMPTS", 1)
    monkeypatch.setenv("WEEBILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("WEEBILL_MIRROR", raising=False)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path / "sacrebleu"))
    with serving() as site:
        sha256 = hashlib.sha256(model.getvalue()).hexdigest()
        source = Source(site.address + "/pieces.model", "pieces", sha256=sha256)
        monkeypatch.setattr(module, "PIECES", source)
        site.model = model.getvalue()
        yield site


@pytest.mark.parametrize(
    ("languages", "name"),
    [
        ("en de ru ar hi vi sr xx gsw", "13a"),
        ("zh zh_CN zh-TW yue zho_Hant", "zh"),
        ("ja jpn_Jpan", "ja-mecab"),
        ("ko ko-KR", "ko-mecab"),
        ("th km lo my bo dz shn tha_Thai", "flores200"),
        ("jv-Java ii ban-Bali char", "char"),
    ],
)
def test_tokenizer_by_language(languages, name):
    assert {tokenizer_of(language) for language in languages.split()} == {name}
    if name != "flores200":
        assert f"tok:{name}" in _signature(languages.split()[0]).replace("-0.996-IPA", "")


def _signature(target, **options):
    metric = bleu(target, **options)
    metric.corpus_score(["a b c d e"], [["a b c d e"]])
    return metric.get_signature().format()


def test_thai_is_counted_in_pieces_that_are_fetched_once(pieces, tmp_path):
    pieces.add("/pieces.model", pieces.model)
    other = THAI.replace("รถไฟ", "บ้าน")
    assert BLEU().corpus_score([other], [[THAI]]).score == 0.0  # two words between spaces
    assert 20 < bleu("th").corpus_score([other], [[THAI]]).score < 100
    assert "tok:flores200" in _signature("th")
    assert [path for path, _ in pieces.seen] == ["/pieces.model"]
    [broken] = (tmp_path / "sacrebleu/models").iterdir()
    broken.write_bytes(b"")  # like an incomplete download by sacreBLEU
    assert bleu("km").corpus_score([THAI], [[THAI]]).score == pytest.approx(100)


def test_a_mirror_replaces_the_network(pieces, tmp_path):
    (tmp_path / hashlib.sha256(pieces.model).hexdigest()).write_bytes(pieces.model)
    bleu("lo", Places(mirror=str(tmp_path)))
    assert pieces.seen == []


def test_pieces_that_cannot_be_had_stop_a_run_before_its_jobs(pieces):
    config = {"kind": "translation", "bleu": {}, "languages": {"source": "en", "target": "my"}}
    [line] = missing_tokenizers(config)
    assert line.startswith("BLEU of my needs sacreBLEU's tokenizer flores200: http://127.0.0.1")
    assert "/pieces.model: cannot be fetched" in line and "`bleu.tokenizer: char`" in line
    assert missing_tokenizers({**config, "bleu": {"tokenizer": "char"}}) == []
    assert missing_tokenizers({**config, "languages": {"source": "en", "target": "de"}}) == []


@pytest.mark.usefixtures("pieces")  # and their empty folder
def test_pieces_that_sacrebleu_cannot_fetch(monkeypatch):
    model = {"url": "http://127.0.0.1:9/pieces.model", "signature": "flores101"}
    monkeypatch.setitem(tokenizer_spm.SPM_MODELS, "flores101", model)
    with pytest.raises(
        InputError, match=r"tokenizer flores101: .*refused.*; or let `bleu.tokenizer"
    ):
        bleu("flores101")


def test_without_mecab(monkeypatch):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(InputError, match=r"ja-mecab: install sacrebleu\[ja,ko\]; or "):
        bleu("ja")
