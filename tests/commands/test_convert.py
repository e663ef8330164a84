"""`weebill convert` and `weebill import-marian`: a folder for the other engine, or one clear line."""

import ctranslate2
import numpy as np
import pytest
import sentencepiece
from safetensors.numpy import load_file, save_file

from tests.mounting import mounted
from tests.runtime.exports.students import onnx_greedy
from tests.small_models import TEXT, make_folder, make_vocabulary, make_whole_vocabulary
from weebill.__main__ import main
from weebill.runtime.exports.onnx.exporting import OnnxStudent
from weebill.runtime.shortlist import save_shortlist
from weebill.translation.loading import load_translator
from weebill.translation.model.folder import load_model
from weebill_runtime.options import SearchOptions
from weebill_runtime.shortlist import Shortlist

OPTIONS = SearchOptions(length_factor=0.0, length_constant=12, allow_unknown=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Make a model with each decoder, and a shortlist for their vocabulary."""
    base = tmp_path_factory.mktemp("models")
    vocabulary = make_vocabulary(base / "vocab.spm")
    candidates = np.full((len(vocabulary), 1), 5, dtype=np.int32)
    save_shortlist(Shortlist(candidates, np.array([0, 7], dtype=np.int32)), base / "shortlist")
    for kind in ("ssru", "attention"):
        make_folder(base / kind, vocabulary, kind=kind)
    return base


def test_ctranslate2(folders, tmp_path, capsys):
    command = ["convert", str(folders / "attention"), str(tmp_path / "out")]
    assert main([*command, "--to", "ctranslate2", "--quantization", "float32"]) == 0
    assert "model.bin" in capsys.readouterr().out
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "out/vocab.spm"))
    engine = ctranslate2.Translator(str(tmp_path / "out"), compute_type="float32")
    sources = pieces.encode(TEXT, out_type=str)
    found = engine.translate_batch(sources, beam_size=1, max_decoding_length=11, disable_unk=False)
    texts = [pieces.decode_pieces(one.hypotheses[0]) for one in found]
    assert texts == load_translator(folders / "attention").translate(TEXT, OPTIONS)


def test_onnx(folders, tmp_path):
    assert main(["convert", str(folders / "ssru"), str(tmp_path / "out"), "--to", "onnx"]) == 0
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "out/vocab.spm"))
    sources = [[*ids, 0] for ids in pieces.encode(TEXT)]
    found = onnx_greedy(OnnxStudent(tmp_path / "out"), sources, 12, unknown=True)
    texts = [pieces.decode(translation) for translation in found]
    assert texts == load_translator(folders / "ssru").translate(TEXT, OPTIONS)


@pytest.mark.parametrize("to", ["marian", "onnx", "ctranslate2"])
def test_a_full_disk(folders, tmp_path, capsys, to):
    with mounted(tmp_path / "small", "size=48k") as place:
        command = ["convert", str(folders / "attention"), str(place / "out"), "--to", to]
        assert main(command) == 1
        assert capsys.readouterr().err.startswith(f"weebill: {place / 'out'}: the disk is full;")
        assert not list(place.iterdir())


@pytest.mark.parametrize("to", ["marian", "onnx", "ctranslate2"])
def test_exports_normalise_their_input(tmp_path, to):
    """Typographic characters are replaced by SentencePiece itself; a note names other normalisation."""
    vocabulary = make_whole_vocabulary(tmp_path / "vocab.spm")
    make_folder(tmp_path / "model", vocabulary, kind="attention")
    assert main(["convert", str(tmp_path / "model"), str(tmp_path / "out"), "--to", to]) == 0
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "out/vocab.spm"))
    assert pieces.encode("Her “bird’s”\u00ad tree – 😀") == pieces.encode('Her "bird\'s" tree - 😀')
    assert pieces.decode(pieces.encode("a 😀")) == "a 😀"
    assert "sacremoses -l en" in (tmp_path / "out/README.md").read_text()
    if to == "marian":
        command = ["import-marian", str(tmp_path / "out/model.npz"), str(tmp_path / "again")]
        assert main([*command, "--vocabulary", str(tmp_path / "out/vocab.spm")]) == 0
        first, again = (load_model(tmp_path / name) for name in ("model", "again"))
        assert again.config["normalisation"] == first.config["normalisation"]
        assert again.vocabulary.normalisation == vocabulary.normalisation


def test_marian_there_and_back(folders, tmp_path, capsys):
    out, again = tmp_path / "out", tmp_path / "again"
    shortlist = ["--shortlist", str(folders / "shortlist")]
    assert main(["convert", str(folders / "ssru"), str(out), "--to", "marian", *shortlist]) == 0
    assert "config.yml, lex.bin, lex.s2t, model.bin, model.npz, vocab" in capsys.readouterr().out
    command = ["import-marian", str(out / "model.npz"), str(again)]
    assert main([*command, "--vocabulary", str(out / "vocab.spm")]) == 0
    assert "parameters" in capsys.readouterr().out
    translated = load_translator(again).translate(TEXT)
    assert translated == load_translator(folders / "ssru").translate(TEXT)


def test_errors_are_one_line(folders, tmp_path, capsys):
    ssru, attention, new = str(folders / "ssru"), str(folders / "attention"), str(tmp_path / "new")
    (tmp_path / "other").write_text("no model")
    np.save(tmp_path / "single.npy", np.zeros(3))
    single = str(tmp_path / "single.npy")
    other, foreign = str(tmp_path / "other"), str(tmp_path / "foreign")
    mine = load_file(folders / "shortlist")
    save_file(mine, foreign, {"vocabulary": "0" * 64})
    cases = [
        (["convert", ssru, new, "--to", "ctranslate2"], "no SSRU decoder"),
        (["convert", ssru, new, "--to", "marain"], "did you mean 'marian'?"),
        (["convert", ssru, str(tmp_path), "--to", "marian"], "is there already"),
        (["convert", other, new, "--to", "marian"], "not a model folder"),
        (["convert", ssru, new, "--to", "onnx", "--pad"], "onnx knows no --pad"),
        (["convert", ssru, new, "--to", "marian", "--quantization", "int8"], "marian knows no --quant"),
        (["convert", attention, new, "--to", "ctranslate2", "--quantization", "int7"], "; did you mean 'int"),
        (["convert", attention, new, "--to", "ctranslate2", "--quantization", "q4"], "2; there are float32, int8"),
        (["convert", ssru, new, "--to", "marian", "--shortlist", other], "no shortlist"),
        (["convert", ssru, new, "--to", "marian", "--shortlist", foreign], "made with vocabulary 00000000"),
        (["convert", ssru, new, "--to", "firefox"], "--languages en de"),
        (["convert", ssru, new, "--to", "firefox", "--languages", "en", "de"], "is float32; quantize it"),
        (["convert", ssru, new, "--to", "marian", "--languages", "en", "de"], "marian knows no --languages"),
        (["import-marian", other, new, "--vocabulary", other], "not a Marian .npz"),
        (["import-marian", single, new, "--vocabulary", other], "single.npy: not a Marian .npz"),
        (["import-marian", "none.npz", new, "--vocabulary", other], "none.npz: no such file"),
    ]  # fmt: skip
    for command, message in cases:
        assert main(command) == 1
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1, error
        assert not (tmp_path / "new").exists()
