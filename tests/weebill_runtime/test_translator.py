"""A student gives the same translations without PyTorch, from Python and from the command line."""

import copy
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import weebill_runtime
from tests.runtime.conftest import quantized
from tests.small_models import TEXT, make_network, make_whole_vocabulary
from weebill.kernels.extension import available
from weebill.quantization.files import section
from weebill.runtime.loading import load
from weebill.translation.model.packed_folder import save_any_model
from weebill_runtime.compiled import packed
from weebill_runtime.errors import InputError
from weebill_runtime.folder import read_folder
from weebill_runtime.options import Sampling, SearchOptions
from weebill_runtime.translator import Translator

pytestmark = pytest.mark.skipif(not available(), reason="the engine has no code for this processor")
GRIDS = {"float32": None, "int8": "mean-of-maxima", "int8_rowwise": "mean-of-maxima", "log4": None}
WITHOUT_TORCH = """
import sys
class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "safetensors", "pandas", "pyarrow"}:
            raise AssertionError(f"{name} is imported")
sys.meta_path.insert(0, Forbidden())
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return a model folder of each precision; sizes of weights are no multiples of vectors."""
    base = tmp_path_factory.mktemp("models")
    vocabulary = make_whole_vocabulary(base / "vocab.spm")
    for grid, scales in GRIDS.items():
        network, described = make_network(len(vocabulary)), None
        if grid != "float32":
            network = quantized(network, grid, texts=vocabulary.encode_input(TEXT))
            described = section(grid, scales)
        save_any_model(base / grid, network, vocabulary, {}, described)
    return {grid: base / grid for grid in GRIDS}


DRAWN = SearchOptions(sampling=Sampling(temperature=3.0, epsilon=0.0))
LINES = [*TEXT, "", " ", "Zoë’s “bird” 😀", " ".join(TEXT * 3)]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_translations_are_those_of_pytorch(folders, grid):
    expected = load(folders[grid], isa="portable").translate(LINES)
    assert len(set(expected)) > 5
    with Translator(folders[grid]) as translator:
        assert translator.translate(LINES) == expected
        assert list(translator.stream(iter(LINES), window=3)) == expected
        (one,) = translator.translate(LINES[:1], SearchOptions(batch_size=1))
        assert one == expected[0]
    assert Translator(folders[grid], threads=3).translate(LINES) == expected
    for isa in weebill_runtime.available():
        assert Translator(folders[grid], isa=isa).translate(LINES) == expected


def test_pytorch_is_not_imported(folders):
    """The command translates by one model, the package by a model of each precision."""
    paths = [str(folder) for folder in folders.values()]
    found = ["".join(f"{one}\n" for one in load(path).translate(LINES)) for path in paths]
    command = f"from weebill.__main__ import main; sys.exit(main(['translate', {paths[0]!r}]))"
    package = (
        f"from weebill_runtime import Translator\n"
        f"lines = sys.stdin.buffer.read().decode().split('\\n')[:-1]\n"
        f"found = [one for path in {paths} for one in Translator(path).translate(lines)]\n"
        f"sys.stdout.buffer.write(''.join(one + '\\n' for one in found).encode())\n"
        "known = {'numpy', 'sentencepiece', 'sentencex', 'weebill_runtime', 'sitecustomize'}\n"
        "names = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "assert not [name for name in names - known if name[0] != '_'], names"
    )
    for program, expected in ((command, found[0]), (package, "".join(found))):
        run = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH + program],
            input="".join(f"{line}\n" for line in LINES).encode(),
            capture_output=True,
        )
        assert run.returncode == 0, run.stderr.decode()
        assert run.stdout.decode() == expected


def test_the_table_lies_on_the_mapped_file(folders):
    weights = read_folder(folders["int8"]).weights
    _, parts = packed(weights, available()[0])
    for part in ("embedding", "output"):
        assert not parts[part]["weight"].flags.owndata
        assert np.shares_memory(parts[part]["weight"], weights.tensors["embedding.quantized.codes"])


def test_what_needs_pytorch_says_so(folders):
    translator = Translator(folders["int8"])
    for call in (
        lambda: translator.scores(TEXT, TEXT),
        lambda: translator.nbest(TEXT, SearchOptions(beam=2, nbest=2)),
        lambda: translator.translate(TEXT, SearchOptions(beam=2)),
        lambda: translator.translate(TEXT, DRAWN),
    ):
        with pytest.raises(InputError, match=r"need PyTorch; load the model by `weebill\.load`"):
            call()
    found = load(folders["float32"])
    assert isinstance(found, Translator)
    assert (found.scores(TEXT, found.translate(TEXT)) < 0).all()
    samples = [one.text for (one,) in found.nbest(TEXT, DRAWN)]
    assert found.translate(TEXT, DRAWN) == samples != found.translate(TEXT)


def test_wrong_arguments_are_named(folders, tmp_path):
    for arguments, message in (
        ({"threads": 0}, "threads: found 0, expected a number of at least 1"),
        ({"threads": 2.5}, "threads: found 2.5, expected a number of at least 1"),
        ({"threads": "2"}, "threads: found '2', expected a number of at least 1"),
        ({"isa": "avx3"}, "no instruction set 'avx3'; did you mean 'avx2'"),
        ({"shortlist": tmp_path / "none"}, "none: no shortlist, or damaged"),
    ):
        with pytest.raises(InputError, match=message):
            Translator(folders["int8"], **arguments)
    with pytest.raises(InputError, match="threads: found 0, expected a number of at least 1"):
        load(folders["int8"], threads=0)
    searching, half = load(folders["float32"]), ["a", "\ud83d"]
    for call in (
        lambda: Translator(folders["int8"]).translate(half),
        lambda: list(searching.stream(half)),
        lambda: searching.nbest(half, SearchOptions(beam=2, nbest=2)),
        lambda: searching.scores(["a", "a"], half),
    ):
        with pytest.raises(InputError, match="line 2 has half a character"):
            call()
    with pytest.raises(InputError, match="nowhere: no such model folder; check the path"):
        Translator(tmp_path / "nowhere")


def test_a_closed_translator_and_an_empty_window_are_named(folders):
    translator = Translator(folders["int8"], threads=2)
    with pytest.raises(InputError, match="window: found 0, expected a number of at least 1"):
        next(translator.stream(TEXT, window=0))
    translator.close()
    other = load(folders["int8"])
    assert copy.copy(other).translate(TEXT) == other.translate(TEXT)
    other.close()
    for closed in (translator, other):
        with pytest.raises(InputError, match="the translator is closed; load it again"):
            closed.translate(TEXT)


def test_a_stream_refuses_what_translate_refuses_and_counts_lines_from_its_beginning(folders):
    translator = Translator(folders["int8"])
    for lines in ("a text", b"bytes", None, {"a": "b"}, {"a", "b"}):
        for call in (translator.translate, translator.stream):
            with pytest.raises(InputError, match="expected a list of strings"):
                list(call(lines))
    with pytest.raises(InputError, match="lines: line 8 is None, expected a string"):
        list(translator.stream([*LINES[:7], None], window=3))


def test_calls_of_several_threads_wait_for_each_other(folders, monkeypatch):
    """The engine has memory for one search; a second search would write into it."""
    translator, inside, most = load(folders["float32"]), [], []
    for name in ("_greedy", "_search", "_force_decode"):
        work = getattr(translator.translator, name)

        def watched(*given, work=work):
            inside.append(None)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()
            return work(*given)

        monkeypatch.setattr(translator.translator, name, watched, raising=False)
    calls = (
        lambda: translator.translate(TEXT),
        lambda: translator.nbest(TEXT, SearchOptions(beam=2, nbest=2)),
        lambda: translator.scores(TEXT, TEXT),
    )
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1]


def test_threads_that_cannot_start_are_named(folders, monkeypatch):
    """No thread can start here: otherwise, a pool starts no further thread while one is idle."""

    def refused(_thread):
        raise RuntimeError("can't start new thread")

    translator = Translator(folders["int8"], threads=4)
    with monkeypatch.context() as change:
        change.setattr(threading.Thread, "start", refused)
        with pytest.raises(InputError, match=r"^threads: 4 cannot be started; use fewer$"):
            translator.translate(LINES)
    assert translator.translate(LINES) == Translator(folders["int8"]).translate(LINES)


def test_no_thread_goes_on_after_an_interruption(folders):
    """Control-C comes with the first batch; a window of long searches would take minutes."""
    translator, batches = Translator(folders["int8"], threads=2), []

    def progress(count):
        batches.append(count)
        if len(batches) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        translator.translate(TEXT * 500, SearchOptions(batch_size=1), progress)
    assert len(batches) < 300
    assert translator.translate(TEXT) == Translator(folders["int8"]).translate(TEXT)


def test_a_process_is_small(folders):
    """The process has Python, numpy, SentencePiece and a small student, without second copies or other libraries."""
    program = (
        f"from weebill_runtime import Translator\n"
        f"Translator({str(folders['int8'])!r}).translate({LINES!r})\n"
        "print(open('/proc/self/status').read())"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", run.stdout)
    assert int(peak) < 64 * 1024


def test_a_search_without_memory_leaves_the_engine_as_it_was(folders):
    """The engine has no positions for the failed search; reading them would end the process."""
    translator = Translator(folders["int8"])
    with pytest.raises(MemoryError):
        translator.translate(LINES, SearchOptions(length_factor=1e13))
    long = [" ".join(LINES * 3)]
    options = SearchOptions(max_source_tokens=1000)
    assert translator.translate(long, options) == Translator(folders["int8"]).translate(
        long, options
    )
