"""`weebill score` on a small checkpoint."""

import gzip
import json

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
    """Return arguments of the command, and the scorer's own scores."""
    checkpoint = make_checkpoint(tmp_path / "metric", make_encoder(tmp_path / "encoder"))
    names = [write(tmp_path / f"{name}.de.gz", lines) for name, lines in SYSTEMS.items()]
    arguments = ["score", "--model", str(checkpoint), "-s", write(tmp_path / "src.en", SOURCES)]
    arguments += ["-r", write(tmp_path / "ref.de", REFERENCES), "-t", *names]
    found = Scorer(load_metric(checkpoint)).score(SYSTEMS, SOURCES, REFERENCES)
    return arguments, dict(zip(names, found.values(), strict=True))


def test_json(files, capsys, tmp_path):
    arguments, scores = files
    for _ in range(2):  # the first time computed, the second time from the cache
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
    """All its resamples are equal, which would look like certainty."""
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
        (
            lambda a: [*a, "--precision", "int4"],
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
    assert main([*arguments, short]) == 1
    error = capsys.readouterr().err
    assert f"{short} has 4" in error
    assert f"{tmp_path / 'src.en'} has 6" in error
