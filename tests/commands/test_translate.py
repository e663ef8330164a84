"""`weebill translate`: equally many input and output lines, and one clear error line for bad input."""

import io
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from threading import Lock
from types import SimpleNamespace

import pytest
import torch

from tests.small_models import TEXT, make_folder, make_whole_vocabulary
from weebill.__main__ import main
from weebill.commands import translate as translating
from weebill.rehearsal.making.translators import SENTENCES, make_marian
from weebill.runtime import searching
from weebill.translation.loading import load_translator
from weebill_runtime.options import SearchOptions
from weebill_runtime.student import Student


def test_lines_in_are_lines_out(folder):
    """Empty lines, carriage returns, other line separators and a last line without newline are kept."""
    lines = [TEXT[0], "", TEXT[1] + "\r", "one\u2028two\x0bthree\x85four", TEXT[2]]
    command = [sys.executable, "-m", "weebill", "translate", str(folder)]
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.decode().split("\n")
    assert out.pop() == ""
    assert out == load_translator(folder).translate(lines)
    assert out[1] == ""


def test_standard_output_on_a_full_disk(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"A dog.\n"), isatty=bool))
    with suppress(OSError), open("/dev/full", "w") as full:  # closing it fails too
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["translate", str(folder)]) == 1
    assert capsys.readouterr().err.startswith("weebill: standard output: the disk is full; free")


@pytest.mark.parametrize("options", [[], ["--beam", 3], ["--isa", "portable"]])
def test_typed_and_plain_punctuation_are_translated_alike(translate, tmp_path, options):
    folder = make_folder(tmp_path / "model", make_whole_vocabulary(tmp_path / "vocab.spm"))
    typed = [
        "Her scien\u00adtist’s “bird”—it sings…",
        "fifty–five ( cats ) .",
        "\ufeffThe cafe\u0301 «opens».",
    ]
    plain = ['Her scientist\'s "bird" - it sings...', "fifty-five (cats).", 'The café "opens."']
    code, out, _ = translate(folder, *options, text="\n".join(typed).encode())
    assert code == 0 and len(set(out.splitlines())) > 1
    assert translate(folder, *options, text="\n".join(plain).encode())[1] == out
    model = load_translator(folder)
    found, expected = (model.scores(lines, lines[:2] + TEXT[:1]) for lines in (typed, plain))
    assert found.tolist() == expected.tolist()


def test_a_typed_line_is_answered_before_the_next_is_read(translate, folder, monkeypatch):
    sizes = []
    search = Student.translate

    def counted(student, sources, *given):
        sizes.append(len(sources))
        return search(student, sources, *given)

    monkeypatch.setattr(Student, "translate", counted)
    text = "\n".join(TEXT[:3]).encode()
    code, out, error = translate(folder, text=text, typed=True)
    assert (code, sizes, error) == (0, [1, 1, 1], "Type a line and press Enter; Ctrl-D ends.\n")
    assert out.splitlines() == load_translator(folder).translate(TEXT[:3])


def test_nothing_in_is_nothing_out(translate, folder):
    assert translate(folder) == (0, "", "")


def test_nbest_lists(translate, folder):
    text = "\n".join(TEXT[:2]).encode()
    code, out, _ = translate(folder, folder, "--beam", 3, "--nbest", 2, text=text)
    rows = [line.split(" ||| ") for line in out.splitlines()]
    expected = load_translator([folder, folder]).nbest(TEXT[:2], SearchOptions(beam=3, nbest=2))
    assert code == 0
    assert [(row[0], row[1]) for row in rows] == [
        (str(number), found.text) for number, each in enumerate(expected) for found in each
    ]


def test_a_model_of_many_languages_is_told_them(translate, folder, tmp_path):
    many = make_marian(tmp_path / "many", (">>deu<<", ">>nld<<"))
    text = "\n".join(SENTENCES).encode()
    code, out, _ = translate(many, "--languages", "en", "nld", text=text)
    told = load_translator(many, languages=("en", "nl"))
    assert (code, out.splitlines()) == (0, told.translate(SENTENCES))
    code, _, error = translate(many, text=text)
    assert code == 1 and "tell it those of input and output (--languages, or" in error
    code, _, error = translate(folder, "--languages", "en", "de", text=text)
    assert code == 1 and "languages: for Hugging Face models of many" in error


def test_a_reader_that_has_enough_ends_it_quietly(folder):
    command = [sys.executable, "-m", "weebill", "translate", str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.close()
        process.stdin.write(f"{TEXT[0]}\n".encode() * 10)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_errors_are_one_line(translate, folder, tmp_path):
    cases = [
        (translate(tmp_path / "none"), "no such model folder"),
        (translate(tmp_path), "config.json"),
        (translate(folder, text=b"good\nbad \xff\n"), "standard input:2: not UTF-8"),
        (translate(folder, "--nbest", 3), "--beam 3"),
        (translate(folder, "--seed", 7), "--seed is for --sample; add --sample N"),
        *(
            (translate(folder, "--device", name), f"device {name}: not for models; use cpu, cuda")
            for name in ("nonsense", "meta", "mps", "hpu", "cuda:", "")
        ),
        (translate(folder, "--device", "cuda:99"), "device cuda:99: not available here"),
    ]
    for (code, _, error), message in cases:
        assert code == 1 and message in error and error.count("\n") == 1, error


@pytest.mark.parametrize("power", ["-100000", "-0.5", "nan", "inf", "1e9"])
def test_a_length_normalisation_out_of_bounds_is_refused(translate, folder, power):
    code, out, error = translate(
        folder, "--beam", 2, f"--length-normalisation={power}", text=b"One."
    )
    assert (code, out) == (1, "") and error.count("\n") == 1
    assert "translate: length_normalisation must be from 0 to 10, not" in error


@pytest.mark.parametrize("options", [(), ("--window", 4), ("--beam", 2, "--nbest", 2)])
def test_lines_before_a_bad_one_are_translated(translate, folder, options):
    good = "".join(f"{line}\n" for line in TEXT).encode()
    _, expected, _ = translate(folder, *options, text=good)
    code, out, error = translate(folder, *options, text=good + b"bad \xff\n" + good)
    assert (code, out) == (1, expected) and expected
    assert f"standard input:{len(TEXT) + 1}: not UTF-8" in error and error.count("\n") == 1


def test_a_bad_line_begins_a_window(translate, folder):
    text = f"{TEXT[0]}\n".encode()
    code, out, error = translate(folder, "--window", 1, text=text + b"\xff\n")
    assert (code, out) == (1, translate(folder, text=text)[1])
    assert "standard input:2: not UTF-8" in error


def test_ctrl_c_ends_it_quietly(folder, monkeypatch, capfd):
    def lines():
        yield f"{TEXT[0]}\n".encode()
        signal.raise_signal(signal.SIGINT)

    given = lines()
    buffer = SimpleNamespace(readline=lambda most: next(given))
    stdin = SimpleNamespace(buffer=buffer, isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        code = main(["translate", str(folder), "--window", "1"])
    finally:
        signal.signal(signal.SIGINT, before)
    out, error = capfd.readouterr()
    assert (code, error) == (128 + signal.SIGINT, "")
    assert out.count("\n") == 1, "what was answered stays"


def test_a_precision_of_a_hugging_face_model_is_refused(translate, tmp_path):
    model = make_marian(tmp_path / "marian")
    for precision in ("int8", "float32", "nonsense"):
        code, out, error = translate(model, "--precision", precision, text=b"One.")
        assert (code, out) == (1, "")
        assert (
            f"precision {precision}: chooses among Weebill models" in error
            and "leave it out" in error
        )


def test_a_hugging_face_model_below_a_folder_is_found(translate, tmp_path):
    model = make_marian(tmp_path / "teacher/float32")
    text = SENTENCES[0].encode()
    expected = translate(model, text=text)
    assert expected[0] == 0
    found = translate(tmp_path / "teacher", "--precision", "float32", text=text)
    assert found[:2] == expected[:2]


def test_threads_windows_and_engines_agree(translate, folder):
    text = "\n".join([*TEXT, "", *TEXT[:5]]).encode()
    expected = translate(folder, text=text)
    assert expected[0] == 0 and expected[1].count("\n") == len(TEXT) + 6
    for options in (["--threads", 3], ["--window", 1], ["--isa", "portable"]):
        assert translate(folder, *options, text=text)[:2] == expected[:2]


def test_threads_divide_sentences_for_a_gpu(translate, folder, monkeypatch):
    """A device other than `cpu` takes the way of a GPU, also this other name of the processor."""
    text = "\n".join(TEXT).encode()
    expected, given = translate(folder, text=text), []
    monkeypatch.setattr(torch, "set_num_threads", given.append)
    assert translate(folder, "--device", "cpu:0", "--threads", 3, text=text)[:2] == expected[:2]
    assert translate(folder, "--beam", 2, "--threads", 3, text=text)[0] == 0
    assert given == [3, 1], "the threads of the runtime on the processor each have one"


@pytest.mark.parametrize("options", [[], ["--beam", 3, "--nbest", 2]])
def test_a_gpus_windows_are_searched_by_turns_and_answered_in_order(
    translate, folder, monkeypatch, options
):
    text = "\n".join(
        [*TEXT, "", *(f"{line} {'dog' * number}" for number, line in enumerate(TEXT * 3))]
    )
    options = [*options, "--max-length", 9, "--window", 2, "--device", "cpu:0"]
    threads = translating.AHEAD
    monkeypatch.setattr(translating, "AHEAD", 1)
    code, out, errors = translate(folder, *options, text=text.encode())
    assert code == 0 and "standard input:" in errors
    monkeypatch.setattr(translating, "AHEAD", threads)
    within, searches = Lock(), []

    def alone(search):
        def searching(*given):
            assert within.acquire(blocking=False), "two threads search at once"
            time.sleep(0.001)
            searches.append(threading.current_thread())
            found = search(*given)
            within.release()
            return found

        return searching

    for place, name in ((Student, "translate"), (searching, "search")):
        monkeypatch.setattr(place, name, alone(getattr(place, name)))
    found = translate(folder, *options, text=text.encode())
    assert found[:2] == (0, out) and sorted(found[2].splitlines()) == sorted(errors.splitlines())
    assert len(set(searches)) == threads


def test_a_precision_is_chosen_below_a_folder(translate, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "student/float32")
    shutil.copytree(folder, tmp_path / "student/other")
    text = TEXT[0].encode()
    expected = translate(folder, text=text)
    assert translate(folder, "--precision", "float32", text=text) == expected
    assert translate(tmp_path / "student", "--precision", "float32", text=text) == expected
    for arguments, message in [
        ((tmp_path / "student",), "choose one by --precision float32|other"),
        ((tmp_path / "student", "--precision", "flot32"), "'flot32'; did you mean 'float32'"),
        ((folder, "--precision", "int8"), "a model in float32, not int8"),
    ]:
        code, _, error = translate(*arguments, text=text)
        assert code == 1 and message in error and error.count("\n") == 1, error


def test_a_shortlist_or_engine_that_cannot_serve_is_refused(translate, folder, tmp_path):
    (tmp_path / "none").write_bytes(b"no shortlist")
    for options, message in [
        (["--isa", "avx3"], "no instruction set 'avx3'; did you mean 'avx2'"),
        (
            ["--isa", "sve"],
            "no instruction set 'sve'; there are amx, vnni, avxvnni, avx2, i8mm, dotprod, neon, portable",
        ),
        (["--shortlist", tmp_path / "none"], "no shortlist, or damaged"),
    ]:
        code, _, error = translate(folder, *options, text=b"One.")
        assert code == 1 and message in error and error.count("\n") == 1, error


def test_an_ensemble_of_a_model_and_itself_is_the_model(translate, folder):
    text = TEXT[0].encode()
    for isa in ("portable", None):
        options = ["--beam", "3", *(["--isa", isa] if isa else [])]
        assert translate(folder, folder, *options, text=text) == translate(
            folder, *options, text=text
        )


def test_samples_are_written_with_their_line(translate, folder):
    text = "\n".join(TEXT).encode()
    options = ["--sample", "3", "--seed", "5"]
    code, out, _ = translate(folder, *options, text=text)
    lines = [line.split(" ||| ") for line in out.splitlines()]
    assert code == 0
    filled = [number for number, line in enumerate(TEXT) if line.strip()]
    counts = {number: sum(one[0] == str(number) for one in lines) for number in range(len(TEXT))}
    assert all(counts[number] == 3 for number in filled)
    assert translate(folder, *options, "--window", "1", text=text)[1] == out
    assert translate(folder, "--sample", "3", "--seed", "6", text=text)[1] != out
    for wrong, message in [
        (["--sample", "3", "--beam", "4"], "--sample draws; leave out --beam"),
        (["--sample", "3", "--epsilon", "1"], "epsilon must be at least 0 and below 1"),
        (["--sample", "3", "--temperature", "inf"], "temperature must be from"),
        (["--sample", "3", "--seed", "9" * 23], "seed must be at least 0 and below"),
    ]:
        code, _, error = translate(folder, *wrong, text=text)
        assert code == 1 and message in error and error.count("\n") == 1


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [[], ["--precision", "float16"]], ids=["float32", "float16"])
def test_a_gpu_translates_lines_in_their_order(translate, folder, precision):
    text = "\n".join([*TEXT, "", *TEXT[::-1]]).encode()
    code, out, error = translate(folder, "--device", "cuda", *precision, text=text)
    lines = out.splitlines()
    expected = load_translator(folder).translate(TEXT)
    assert (code, error, lines[6]) == (0, "", "")
    assert lines[:6] == lines[:6:-1]
    different = [pair for pair in zip(lines, expected, strict=False) if pair[0] != pair[1]]
    assert len(different) <= (3 if precision else 2), different
