"""`weebill compare`: the runtime and PyTorch, with small models and with trained students, if there are any."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.small_models import TEXT, make_folder, make_network, make_vocabulary
from weebill.__main__ import main
from weebill.commands.compare import compare
from weebill.corpus.table import read_columns
from weebill.kernels.extension import PORTABLE
from weebill.quantization.calibration import activation_scales, record_ranges
from weebill.quantization.files import section
from weebill.quantization.modules import quantize_model
from weebill.translation.model.packed_folder import save_any_model
from weebill.translation.search import greedy_translations
from weebill_runtime.normalisation import Normalisation

RESULTS = Path(__file__).parents[2] / "results" / "multi30k"


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "vocab.spm")


@pytest.fixture(scope="module")
def folder(vocabulary, tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("models") / "model", vocabulary)


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Return a function that runs the command in this process and returns exit code, output and error."""

    def command(*arguments, lines=TEXT):
        text = "".join(f"{line}\n" for line in lines).encode()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        code = main(["compare", *map(str, arguments)])
        sys.stdout.flush()
        out, error = capfdbinary.readouterr()
        return code, out.decode(), error.decode()

    return command


def test_figures_and_scores(run, folder, tmp_path):
    (tmp_path / "references").write_text("".join(f"{line}\n" for line in TEXT))
    arguments = [folder, "--isa", PORTABLE, "--references", tmp_path / "references"]
    code, out, _ = run(*arguments)
    assert code == 0
    assert out.startswith("6 sentences, float32: runtime (portable) against PyTorch\n")
    assert "identical    6 (100.00%)" in out
    assert "(+0.000)" in out
    code, out, _ = run(*arguments, "--json")
    found = json.loads(out)
    assert (found["sentences"], found["identical"], found["differences"]) == (6, 6, [])
    assert found["runtime"] == found["pytorch"]


JAPANESE = ["小さな鳥が古い木で歌う。"] * len(TEXT)


@pytest.mark.parametrize(
    ("recorded", "options", "tokenizer"),
    [
        ("ja", [], "ja-mecab"),
        ("ja", ["--target", "char"], "char"),
        (None, ["--target", "zh"], "zh"),
    ],
)
def test_bleu_counts_the_tokens_of_the_target_language(run, tmp_path, recorded, options, tokenizer):
    record = recorded and Normalisation.of(("en", recorded))
    vocabulary = make_vocabulary(tmp_path / "vocab.spm", normalisation=record)
    folder = make_folder(tmp_path / "model", vocabulary)
    (tmp_path / "references").write_text("".join(f"{line}\n" for line in JAPANESE))
    given = [folder, "--isa", PORTABLE, "--references", tmp_path / "references", *options]
    code, out, error = run(*given)
    assert code == 0, error
    assert f"|tok:{tokenizer}" in out and "|nc:6|" in out and "bs:" not in out
    code, out, _ = run(*given, "--json")
    assert f"|tok:{tokenizer}" in json.loads(out)["signatures"][0]


@pytest.mark.parametrize("grid", ["int8", "int8_rowwise", "log4"])
def test_quantized_folders(tmp_path, vocabulary, grid):
    network = make_network(len(vocabulary))
    with torch.no_grad():
        network.output.bias[0] = -1.0  # longer translations
    scales = None
    if grid != "log4":
        ranges = record_ranges(network, lambda: greedy_translations(network, vocabulary, TEXT))
        scales = activation_scales(ranges, "mean-of-maxima")
    quantize_model(network, grid, scales)
    described = section(grid, scales and "mean-of-maxima")
    save_any_model(tmp_path / "model", network, vocabulary, {}, described)
    found = compare(tmp_path / "model", TEXT)
    assert found["grid"] == grid
    assert found["ties"] == len(found["differences"])
    assert found["identical"] + len(found["differences"]) == len(TEXT)


@pytest.mark.parametrize(
    ("arguments", "lines", "message"),
    [
        ([], [], "standard input is empty"),
        (["--isa", "avx3"], TEXT, "no instruction set 'avx3'; did you mean 'avx2'?"),
        (
            ["--isa", "sve"],
            TEXT,
            "'sve'; there are amx, vnni, avxvnni, avx2, i8mm, dotprod, neon, portable",
        ),
        (["--references", "missing"], TEXT, "missing: no such file; check the path\n"),
        (
            ["--references", "japanese"],
            TEXT,
            "no spaces between words; add `--target` with its language",
        ),
        (
            ["--references", "japanese", "--target", "jx"],
            TEXT,
            "--target: no language 'jx', expected",
        ),
        (["--target", "ja"], TEXT, "--target: only BLEU's tokens depend on it; add --references"),
        (["--references", "short"], TEXT, "short: 1 lines, standard input has 6"),
    ],
)
def test_bad_input_is_one_line(run, folder, tmp_path, monkeypatch, arguments, lines, message):
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("one line\n")
    Path("japanese").write_text("".join(f"{line}\n" for line in JAPANESE))
    code, out, error = run(folder, *arguments, lines=lines)
    assert (code, out) == (1, "")
    assert message in error
    assert error.count("\n") == 1


STUDENTS = [
    path
    for precision in ("float32", "int8")
    for path in sorted((RESULTS / "models").glob(f"*/unpruned/{precision}/"))
]


@pytest.mark.skipif(not STUDENTS, reason="needs students of config/multi30k.yaml in results/")
@pytest.mark.parametrize("student", STUDENTS, ids=lambda path: "/".join(path.parts[-3::2]))
def test_trained_students_write_the_same_words(student):
    (test_set, *_) = sorted((RESULTS / "test_sets").glob("*.parquet"))
    text = read_columns(test_set, ["source", "target"]).to_pydict()
    found = compare(student, text["source"], text["target"])
    assert found["ties"] == len(found["differences"])
    change = abs(found["runtime"]["BLEU"] - found["pytorch"]["BLEU"])
    assert found["identical"] >= 0.995 * found["sentences"] or change <= 0.05


def test_a_line_that_is_cut_is_named(run, folder, vocabulary):
    lines = [TEXT[0], " ".join(TEXT * 3)]
    code, out, error = run(folder, "--isa", PORTABLE, "--json", lines=lines)
    assert code == 0 and json.loads(out)["sentences"] == 2
    (ids,) = vocabulary.encode(lines[1:])
    assert error == (
        f"weebill: standard input:2: {len(ids) - 1} pieces, cut to the first 200 for both engines; split the line\n"
    )
