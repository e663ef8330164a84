"""`weebill serve` names what it cannot serve; `tests/weebill_runtime/test_server.py` tests its answers."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.small_models import make_folder, make_whole_vocabulary
from weebill.__main__ import main
from weebill.rehearsal.making.translators import make_nllb
from weebill.runtime.loading import load


def test_a_port_that_is_taken_is_named(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = ["serve", folder, "--languages", "en", "de", "--port", port]
        assert main(list(map(str, command))) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"weebill: 127.0.0.1:{port}: cannot be listened on (")
    assert error.endswith("choose another host or port\n")


@pytest.mark.parametrize("host", ["büro" * 20, "é" * 80, "a..b"])
def test_a_host_that_cannot_be_is_named(folder, host, capsys):
    assert main(["serve", str(folder), "--languages", "en", "de", "--host", host]) == 1
    assert "cannot be listened on (" in capsys.readouterr().err


def test_languages_that_the_model_does_not_record_are_asked_for(folder, capsys):
    assert main(["serve", str(folder)]) == 1
    assert (
        "does not record the languages; name them by --languages FROM TO" in capsys.readouterr().err
    )


def test_other_languages_than_the_recorded_ones_are_refused(tmp_path, capsys, monkeypatch):
    """The answers would be German, whatever a client asks for; another spelling of a code is no other language."""
    served = []
    monkeypatch.setattr("weebill_runtime.server.Server", lambda *given: given)
    monkeypatch.setattr("weebill_runtime.server.serve", served.append)
    folder = make_folder(tmp_path / "model", make_whole_vocabulary(tmp_path / "vocab.spm"))
    assert main(["serve", str(folder), "--languages", "de", "en"]) == 1
    error = capsys.readouterr().err
    assert (
        error
        == f"weebill: --languages de en: the vocabulary of {folder} records en de; leave it out\n"
    )
    assert main(["serve", str(folder), "--languages", "eng", "de_AT"]) == 0
    assert served[0][2] == ("eng", "de_AT")


def test_an_empty_host_is_not_taken_for_all_addresses(folder, capsys):
    assert main(["serve", str(folder), "--languages", "en", "de", "--host", ""]) == 1
    assert "--host: found '', expected an address" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_named(folder, capsys):
    assert main(["serve", str(folder), "--device", "cuda:99"]) == 1
    assert "device cuda:99: not available here; use cpu" in capsys.readouterr().err
    assert main(["serve", str(folder), "--precision", "float16"]) == 1
    assert "precision float16: GPUs compute in it" in capsys.readouterr().err


def test_a_hugging_face_model_of_many_languages_is_told_them(tmp_path, monkeypatch):
    folder, found = make_nllb(tmp_path / "model"), []

    def serve(server):
        found.extend((server.about, server.batches.translate(["one bird", ""])))
        server.server_close()
        server.batches.close()

    monkeypatch.setattr("weebill_runtime.server.serve", serve)
    assert main(["serve", str(folder), "--languages", "en", "de", "--port", "0"]) == 0
    expected = load(folder, languages=("en", "de")).translate(["one bird", ""])
    assert found[1] == expected
    assert [one["code"] for one in found[0]] == ["en", "de"]


def test_pytorch_computes_on_as_many_threads_as_were_asked_for(folder, tmp_path, monkeypatch):
    """A Weebill model has as many threads of its own instead."""
    counts = []

    def serve(server):
        with ThreadPoolExecutor() as another:  # as those that answer
            counts.append(another.submit(torch.get_num_threads).result())
        server.server_close()
        server.batches.close()

    monkeypatch.setattr("weebill_runtime.server.serve", serve)
    before = torch.get_num_threads()
    try:
        for model in (make_nllb(tmp_path / "model"), folder):
            command = ["serve", model, "--languages", "en", "de", "--port", 0, "--threads", 3]
            assert main(list(map(str, command))) == 0
    finally:
        torch.set_num_threads(before)
    assert counts == [3, 1]
