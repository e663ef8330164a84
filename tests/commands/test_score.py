"""`weebill score` with a small checkpoint."""

import gzip
import io
import json
import os
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from tests.metric.small import REFERENCES, SOURCES, SYSTEMS, make_checkpoint, make_encoder
from weebill.__main__ import main
from weebill.metric.folder import load_metric
from weebill.metric.scorer import Scorer


def write(path, lines):
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Return the command's arguments, and the scorer's own scores."""
    checkpoint = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    names = [write(tmp_path / f"{name}.de.gz", lines) for name, lines in SYSTEMS.items()]
    arguments = ["score", "--model", str(checkpoint), "-s", write(tmp_path / "src.en", SOURCES)]
    arguments += ["-r", write(tmp_path / "ref.de", REFERENCES), "-t", *names]
    found = Scorer(load_metric(checkpoint)).score(SYSTEMS, SOURCES, REFERENCES)
    return arguments, dict(zip(names, found.values(), strict=True))


def test_json(files, capsys, tmp_path):
    arguments, scores = files
    for _ in range(2):  # computed first, then from the cache
        assert main([*arguments, "--json", "--cache", str(tmp_path / "vectors.sqlite")]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [one["name"] for one in found["systems"]] == list(scores)
        for one in found["systems"]:
            np.testing.assert_allclose(one["segments"], scores[one["name"]], atol=1e-6)
            assert one["score"] == pytest.approx(scores[one["name"]].mean(), abs=1e-6)
            assert one["low"] < one["score"] < one["high"]
        (pair,) = found["comparisons"]
        good, bad = scores
        assert (pair["system"], pair["other"]) == (good, bad)
        difference = scores[good].mean() - scores[bad].mean()
        assert pair["difference"] == pytest.approx(difference, abs=1e-6)
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert 0 < pair["p_value"] <= 1
        assert len(found["model_sha256"]) == 64


def test_one_segment_has_no_interval(files, capsys, tmp_path):
    """All resamples of one segment are equal, so an interval would suggest certainty."""
    model, lines = tmp_path / "metric", ["A dog.", "Ein Hund.", "Ja.", "Der Hund."]
    src, ref, *systems = (write(tmp_path / f"{n}.txt", [line]) for n, line in enumerate(lines))
    options = ["score", "--model", str(model), "-s", src, "-r", ref, "-t", *systems]
    assert main([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [system["low"] for system in found["systems"]] == [None, None]
    assert found["comparisons"][0]["p_value"] is None
    assert main(options) == 0
    assert "interval" not in (out := capsys.readouterr().out) and "p =" not in out


def test_text(files, capsys):
    arguments, scores = files
    assert main([*arguments, "--segments"]) == 0
    lines = capsys.readouterr().out.splitlines()
    good, bad = scores
    assert lines[0] == f"segment\t{good}\t{bad}"
    assert lines[3] == f"3\t{scores[good][2]:.4f}\t{scores[bad][2]:.4f}"
    assert lines[8].startswith(f"{good}  {scores[good].mean():.4f}  95 % interval ")
    assert lines[10].startswith(f"{good} - {bad}: ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: [*a, a[-1]], "--translations: a file is named twice"),
        (lambda a: a[:5] + a[7:], "compares with references; give them"),
        (lambda a: [*a, "--bootstrap", "1"], "--bootstrap 1: a 95 % interval needs 100 resamples"),
        (lambda a: [*a[:4], "none.en", *a[5:]], "none.en: no such file"),
        (
            lambda a: [
                *a,
                "--precision",
                "int4",
                "--model",
                "no/such.ckpt",
            ],  # it is not read before
            "precision 'int4', expected float32, bfloat16, int8",
        ),
        (lambda a: [*a, "--model", "no/such.ckpt"], "no/such.ckpt: no such file"),
    ],
)
def test_what_is_wrong(files, capsys, change, message):
    arguments, _ = files
    assert main(change(arguments)) == 1
    assert message in capsys.readouterr().err


def test_files_of_unlike_lengths(files, capsys, tmp_path):
    arguments, _ = files
    short = write(tmp_path / "short.de", REFERENCES[:4])
    assert main([*arguments, short, "--model", "no/such.ckpt"]) == 1  # which is not read before
    error = capsys.readouterr().err
    assert f"{short} has 4" in error
    assert f"{tmp_path / 'src.en'} has 6" in error


def test_pipes_and_several_references(files, capsys, tmp_path, monkeypatch):
    arguments, scores = files
    model, names = tmp_path / "metric", list(scores)
    again = write(tmp_path / "again.de", REFERENCES[::-1])
    both = Scorer(load_metric(model)).score(
        SYSTEMS, SOURCES, {"a": REFERENCES, "b": REFERENCES[::-1]}
    )
    other = Scorer(load_metric(model)).score(SYSTEMS, SOURCES, REFERENCES[::-1])
    pipe, text = tmp_path / "pipe", "".join(f"{line}\n" for line in SOURCES).encode()
    os.mkfifo(pipe)
    for place in (str(pipe), "-"):
        thread = Thread(target=pipe.write_bytes, args=(text,))
        if place == "-":
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        else:
            thread.start()
        files = ["-s", place, "-r", arguments[6], again, "-t", *names]
        assert main(["score", "--model", str(model), *files, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["references"] == [arguments[6], again] and found["sources"] == place
        for one, name, key in zip(found["systems"], names, SYSTEMS, strict=True):
            mean = (scores[name] + other[key]) / 2
            np.testing.assert_allclose(both[key], mean, atol=1e-6)
            np.testing.assert_allclose(one["segments"], mean, atol=1e-6)
    assert main(["score", "--model", str(model), "-s", "-", "-r", "-", "-t", *names]) == 1
    assert "standard input is named twice" in capsys.readouterr().err


def test_files_of_repeated_options_count_together(files, capsys, tmp_path):
    arguments, scores = files
    again = write(tmp_path / "again.de", REFERENCES[::-1])
    before = ["score", "--model", str(tmp_path / "metric"), "-s", arguments[4], "--json"]
    told = []
    one_by_one = [word for name in scores for word in ("-t", name)]
    for words in (
        ["-r", arguments[6], again, "-t", *scores],
        ["-r", arguments[6], "-r", again, *one_by_one],
    ):
        assert main([*before, *words]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1] and len(told[0]["systems"]) == len(scores)
    with pytest.raises(SystemExit):
        main([*before, "-s", arguments[4], "-r", arguments[6], "-t", *scores])
    assert "argument -s/--sources: takes one file; give it once" in capsys.readouterr().err


def test_a_name_that_is_not_utf8(files, capsys, tmp_path):
    arguments, scores = files
    system = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.de")
    write(Path(system), SYSTEMS["good"])
    assert main([*arguments[:8], system]) == 0
    assert f"{tmp_path}/\\udcff.de  " in capsys.readouterr().out
    assert main([*arguments[:8], system, "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["systems"]
    assert one["name"] == system and one["segments"] == pytest.approx(next(iter(scores.values())))


def test_errors_as_json(capsys, tmp_path):
    encoder = make_encoder(tmp_path / "encoder", "XLM-RoBERTa-XL")
    values = {
        "class_identifier": "xcomet_metric",
        "encoder_model": "XLM-RoBERTa-XL",
        "word_layer": 2,
    }
    model = str(make_checkpoint(tmp_path / "metric", encoder, **values))
    ref, mt = write(tmp_path / "ref", REFERENCES), write(tmp_path / "mt", SYSTEMS["good"])
    assert main(["score", "--model", model, "-r", ref, "-t", mt, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["systems"]
    judged = Scorer(model).judge({"": SYSTEMS["good"]}, references=REFERENCES)[""]
    assert found["error_spans"] == judged.errors and any(judged.errors)
    assert found["segments"] == pytest.approx(judged.scores.tolist(), abs=1e-6)
    for line, errors in zip(SYSTEMS["good"], judged.errors, strict=True):
        assert all(0 <= one["start"] <= one["end"] <= len(line) for one in errors)
    assert set(found) >= {"src_scores", "mqm_scores"}
