"""The program weebill-translate needs no Python and gives the bytes of `weebill translate`."""

import json
import random
import shutil
import subprocess
import sys

import pytest

import weebill_runtime
from tests.small_models import TEXT, make_folder, make_vocabulary, make_whole_vocabulary
from tests.weebill_runtime.program import (
    GRIDS,
    HARD,
    PROGRAM,
    make_folders,
    random_lines,
    run_program,
    text_of,
)
from tests.workflow.running import REPOSITORY
from weebill import __version__
from weebill.translation.model.folder import save_model
from weebill.translation.model.network import Translator as Network
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.translator import Translator
from weebill_runtime.vocabulary import VocabularyPair

pytestmark = pytest.mark.skipif(
    not PROGRAM.is_file(), reason="weebill-translate is not built; `make program` does it"
)


def run(*arguments, text=b""):
    return run_program([PROGRAM], *arguments, text=text)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return make_folders(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("grid", GRIDS)
def test_real_text_is_translated_as_by_python(folders, real_text, grid):
    lines = real_text("multi30k/test_2016_flickr.en").read_text("utf-8").splitlines()[:500]
    lines += HARD
    text = text_of(lines)
    expected = text_of(Translator(folders[grid]).translate(lines))
    assert len(set(expected.splitlines())) > 100
    for options in ([], ["--threads", "2"], ["--batch-size", "7"]):
        found = run(folders[grid], *options, text=text)
        assert (found.returncode, found.stderr) == (0, b"")
        assert found.stdout == expected
    if grid == "int8":
        command = [sys.executable, "-m", "weebill", "translate", str(folders[grid])]
        done = subprocess.run(command, input=text, capture_output=True, check=True)
        assert done.stdout == expected
    with Translator(folders[grid], shortlist=folders["shortlist"]) as translator:
        expected = text_of(translator.translate(lines))
    assert len(set(expected.splitlines())) > 100
    assert run(folders[grid], "--shortlist", folders["shortlist"], text=text).stdout == expected


def test_any_characters_are_read_as_by_python(folders):
    lines = random_lines(1500, seed=5)
    with Translator(folders["int8"]) as translator:
        expected = translator.translate(lines)
    found = run(folders["int8"], text=text_of(lines)).stdout.decode().split("\n")
    wrong = [(line, x, y) for line, x, y in zip(lines, found, expected, strict=False) if x != y]
    assert not wrong, wrong[:3]
    assert len(found) == len(lines) + 1


@pytest.mark.parametrize(
    "languages", [("de", "en"), ("cs", "en"), ("ja", "en"), ("eng_Latn", "de")]
)
def test_every_language_is_normalised_as_by_python(tmp_path, languages):
    from weebill.translation.model.vocabulary import OWN
    from weebill_runtime.normalisation import Normalisation

    options = {"normalizer": OWN, "byte_fallback": True}
    vocabulary = make_vocabulary(
        tmp_path / "v", 310, normalisation=Normalisation.of(languages), **options
    )
    folder = make_folder(tmp_path / "model", vocabulary)
    lines = random_lines(400, seed=6)
    expected = Translator(folder).translate(lines)
    assert run(folder, text=text_of(lines)).stdout.decode() == text_of(expected).decode()


def test_decoders_that_attend_and_two_vocabularies(tmp_path):
    source, target = make_vocabulary(tmp_path / "s", 60), make_whole_vocabulary(tmp_path / "t")
    layer = LayerShape(heads=2, head_size=8, feed_forward=32, self_heads=2)
    shape = Architecture(
        len(target), 16, (LayerShape(2, 8, 32),), (layer,) * 2, 2, "attention", len(source)
    )
    save_model(tmp_path / "pair", Network(shape), VocabularyPair(source, target), lineage={})
    folder = make_folder(tmp_path / "one", make_whole_vocabulary(tmp_path / "v"), kind="attention")
    for model in (tmp_path / "pair", folder):
        expected = Translator(model).translate(HARD)
        assert run(model, text=text_of(HARD)).stdout == text_of(expected)


def test_every_instruction_set_is_in_the_one_file(folders):
    for isa in weebill_runtime.available():
        expected = Translator(folders["int8"], isa=isa).translate(HARD)
        found = run(folders["int8"], "--isa", isa, text=text_of(HARD))
        assert found.stdout == text_of(expected), found.stderr
    error = run(folders["int8"], "--isa", "avx3").stderr.decode()
    assert error.startswith("weebill-translate: no instruction set 'avx3'; there are amx, vnni")


def test_windows_and_files(folders, tmp_path):
    file = tmp_path / "text"
    file.write_bytes(text_of(HARD)[:-1])
    expected = text_of(Translator(folders["int8"]).translate(HARD))
    for window in (1, 3):
        assert run(folders["int8"], file, "--window", str(window)).stdout == expected
    assert run(folders["int8"], text=b"").stdout == b""
    assert run("--version").stdout.decode() == f"{__version__}\n"
    assert run("--help").stdout.decode().startswith("usage: weebill-translate")


def test_a_long_line_is_cut_and_named(folders):
    text = text_of([TEXT[0], " ".join(TEXT)])
    found = run(folders["int8"], "--max-length", "9", text=text)
    assert found.stdout.count(b"\n") == 2
    told = found.stderr.decode().splitlines()
    pattern = "weebill-translate: standard input:2: "
    assert told[-1].startswith(pattern) and ", cut to the first 9; --max-length N" in told[-1]


def test_faults_are_one_line(folders, tmp_path):
    model = folders["int8"]
    damaged = shutil.copytree(model, tmp_path / "damaged")
    (damaged / "config.json").write_text("{")
    other = shutil.copytree(model, tmp_path / "other")
    shutil.copyfile(folders["shortlist"], other / "model.safetensors")
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, text, message in (
        (["nowhere"], b"", "nowhere: no such model folder; check the path"),
        ([empty], b"", f"{empty}: not a model folder (no config.json)"),
        ([damaged], b"", "config.json: not valid JSON"),
        ([other], b"", "tensor candidates is U16, expected F32"),
        ([model, "--shortlist", "none"], b"", "none: no shortlist, or damaged"),
        ([model, "--threads", "0"], b"", "--threads: found '0', expected a number of at least 1"),
        ([model, "--threads", "5000"], b"", "threads: found 5000, expected at most 4096"),
        ([model, "--shortlist", ""], b"", "--shortlist: found '', expected a name"),
        ([model, "--isa", ""], b"", "--isa: found '', expected a name"),
        ([model, ""], b"", "FILE: found '', expected a name"),
        ([model, "none.txt"], b"", "none.txt: No such file or directory; check the path"),
        ([], b"", "expected a model folder, and perhaps a file"),
        ([model], b"good\na\xffb\n", "standard input:2: not UTF-8 (byte 0xff at column 2)"),
        ([model], b"one\rtwo\r", "standard input: its lines end in carriage returns alone"),
    ):
        found = run(*arguments, text=text)
        (line,) = found.stderr.decode().splitlines()
        assert line.startswith("weebill-translate: ") and message in line
        assert found.returncode == 1
        assert found.stdout.count(b"\n") == text.startswith(b"good")


def test_a_thread_that_cannot_start_is_one_line(folders):
    """Each thread takes 8 MB or more of the 300 MB of address space."""
    command = ["bash", "-c", 'ulimit -s 8192 -v 300000; exec "$@"', "bash"]
    arguments = [folders["int8"], "--threads", "64"]
    found = run_program([*command, PROGRAM], *arguments, text=text_of([TEXT[0]] * 200))
    assert found.returncode == 1, found
    (line,) = found.stderr.decode().splitlines()
    assert line.endswith("; use fewer threads")


def test_damaged_folders_never_crash(folders, tmp_path):
    draw = random.Random(3)
    model = shutil.copytree(folders["int8"], tmp_path / "model")
    for file in ("model.safetensors", "config.json", "vocab.spm"):
        whole = (model / file).read_bytes()
        for _ in range(25):
            data = bytearray(whole)
            for _ in range(draw.choice([1, 4])):
                data[draw.randrange(min(len(data), 4000))] = draw.randrange(256)
            (model / file).write_bytes(data[: draw.choice([len(data), draw.randrange(len(data))])])
            found = run(model, text=b"A bird.\n")
            assert found.returncode in (0, 1), (file, found)
            assert found.returncode == 0 or found.stderr.count(b"\n") == 1
        (model / file).write_bytes(whole)
    nested = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text("[" * 100_000)
    assert run(model).returncode == 1
    (model / "config.json").write_text(json.dumps(nested | {"parameters": 5}))
    assert b"and it says another number" in run(model).stderr


C_PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <weebill.h>
static size_t cut;
static void on_cut(void *data, size_t line, size_t pieces, size_t kept) {
  cut += line == 1 && pieces > kept && data == &cut;
}
int main(int count, char **words) {
  if (count != 3) return 1;
  weebill_options options = WEEBILL_OPTIONS;
  options.max_length = 9, options.on_cut = on_cut, options.data = &cut;
  if (weebill_load("nowhere", &options) || !strstr(weebill_last_error(), "no such model folder")) return 2;
  weebill_translator *translator = weebill_load(words[1], &options);
  weebill_text lines[] = {{"A bird.", 7}, {words[2], strlen(words[2])}, {"\xff", 1}}, found[2];
  if (!translator || weebill_interface() != WEEBILL_INTERFACE) return 3;
  if (weebill_translate(translator, lines, 2, found) || cut != 1) return 4;
  printf("%s\n%s\n%s\n", found[0].data, found[1].data, weebill_instruction_set(translator));
  weebill_free_texts(found, 2);
  if (!weebill_translate(translator, lines, 3, found)) return 5;
  weebill_free(translator);
  return strstr(weebill_last_error(), "line 3: not UTF-8 at column 1") ? 0 : 6;
}
"""


def test_the_c_interface(folders, tmp_path):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no C compiler")
    installed = PROGRAM.parents[1]
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(C_PROGRAM)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{installed / 'include'}"]
    libraries = [f"-L{installed / 'lib'}", "-lweebill", f"-Wl,-rpath,{installed / 'lib'}"]
    subprocess.run([compiler, *flags, source, *libraries, "-o", program], check=True)
    long = " ".join(TEXT)
    found = subprocess.run([program, folders["int8"], long], capture_output=True, text=True)
    assert found.returncode == 0, found
    first, second, isa = found.stdout.splitlines()
    assert first == Translator(folders["int8"]).translate(["A bird."])[0]
    assert second and isa == weebill_runtime.available()[0]
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", installed / "lib/libweebill.so"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
    assert {name for name in names if name.startswith("weebill_")} >= {"weebill_load"}
    assert not {name for name in names if "sentencepiece" in name}
    header = (REPOSITORY / "runtime/include/weebill.h").read_text()
    assert all(name in header for name in names if name.startswith("weebill_"))
