"""The server answers each of many clients with its own translation, and loses nothing at its end."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.small_models import TEXT, make_folder, make_whole_vocabulary
from weebill.runtime.text import load_runtime
from weebill_runtime import server as serving
from weebill_runtime.errors import InputError
from weebill_runtime.server import Server


def ask(port, method="POST", path="/translate", body=None, kind="application/json", **headers):
    """Return status and answer of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": kind, **headers}
    if isinstance(body, dict):
        body = json.dumps(body)
    connection.request(method, path, body and body.encode(), headers)
    with connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def upper(lines):
    """Stand for a translator that cannot translate digits."""
    if any(line.isdigit() for line in lines):
        raise InputError("digits: not translated; write words")
    return [line.upper() for line in lines]


@pytest.fixture
def port():
    server = Server(("127.0.0.1", 0), upper, ("en", "deu"), ("English", "German"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.finish()
    thread.join()


ENGLISH = {"source": "en", "target": "de"}


def test_texts_and_lists_of_lines(port):
    assert ask(port, body={"q": "one\n\ntwö", **ENGLISH}) == (200, {"translatedText": "ONE\n\nTWÖ"})
    for q in (["a", "b\nc", ""], []):
        expected = {"translatedText": [one.upper() for one in q]}
        assert ask(port, body={"q": q, "source": "auto", "target": "de"}) == (200, expected)
    form = "q=a+b%C3%A4&source=en&target=de"
    found = ask(port, body=form, kind="application/x-www-form-urlencoded")
    assert found == (200, {"translatedText": "A BÄ"})


def test_health_and_languages(port):
    assert ask(port, "GET", "/health") == (200, {"status": "ok"})
    english = {"code": "en", "name": "English", "targets": ["deu"]}
    german = {"code": "deu", "name": "German", "targets": []}
    assert ask(port, "GET", "/languages") == (200, [english, german])


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        ({"body": {"q": "a", "source": "fr", "target": "de"}}, 400, "source: found 'fr', this model's is 'en'"),
        ({"body": {"q": "a", "source": "en"}}, 400, "target: found None"),
        ({"body": {"q": 3, **ENGLISH}}, 400, "q: expected a text or a list of texts"),
        ({"body": {"q": [3], **ENGLISH}}, 400, "q: expected a text"),
        ({"body": {"q": "a", "format": "html", **ENGLISH}}, 400, "format: only 'text'"),
        ({"body": "{"}, 400, "body: not read as application/json"),
        ({"body": "[]"}, 400, "body: expected a JSON object"),
        ({"body": {"q": "12", **ENGLISH}}, 400, "digits: not translated"),
        ({"body": {"q": "a" * 1_000_000, **ENGLISH}}, 413, "at most 1,000,000 are read"),
        ({"path": "/translation", "body": {}}, 404, "there are POST /translate"),
        ({"path": "/health", "body": {}}, 405, "/health: use GET"),
        ({"method": "GET"}, 405, "/translate: use POST"),
        ({"method": "PUT", "body": {}}, 501, "Unsupported method"),
    ],
)  # fmt: skip
def test_bad_requests_are_named(port, request_, status, message):
    found, answer = ask(port, **request_)
    assert found == status and message in answer["error"]


def test_too_many_connections_are_refused(port, monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS", 0)
    assert ask(port, "GET", "/health")[0] == 503


def test_a_hundred_clients_and_a_clean_end(tmp_path):
    """All ask at once, again and again; SIGTERM comes in between, and no accepted request stays without answer."""
    folder = make_folder(tmp_path / "model", make_whole_vocabulary(tmp_path / "vocab.spm"))
    lines = [f"{TEXT[number % 6]} {number}" for number in range(100)]
    expected = load_runtime(folder).translate(lines)
    command = [sys.executable, "-m", "weebill", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+);", process.stderr.readline())[1])
    answered, ends = [0] * 100, threading.Event()

    def client(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = json.dumps({"q": lines[number], **ENGLISH})
        for _ in range(20):
            try:
                connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
            except OSError:
                return ends.is_set()  # before a request was sent
            try:
                with connection.getresponse() as answer:
                    found = json.loads(answer.read())
            except ConnectionError:
                return ends.is_set() and answered[number] > 0  # an idle connection was closed
            if answer.status == 503:
                return ends.is_set()
            assert found == {"translatedText": expected[number]}
            answered[number] += 1
            if sum(answered) >= 500 and not ends.is_set():  # several may see 501 first
                ends.set()
                process.send_signal(signal.SIGTERM)
            if answer.will_close:
                return True
        return True

    with ThreadPoolExecutor(100) as clients:
        assert all(clients.map(client, range(100)))
    assert process.wait(timeout=60) == 0
    assert "Traceback" not in process.stderr.read()
    assert sum(answered) >= 500 and min(answered) > 0
