"""The server answers each of many clients with its own translation, and loses no request when it ends."""

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.small_models import TEXT, make_folder, make_whole_vocabulary
from weebill.runtime.text import load_runtime
from weebill_runtime import request_handler
from weebill_runtime import server as serving
from weebill_runtime.errors import InputError
from weebill_runtime.server import Server


def ask(port, method="POST", path="/translate", body=None, kind="application/json", **headers):
    """Send one request; return status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": kind, **headers}
    if isinstance(body, dict):
        body = json.dumps(body)
    connection.request(method, path, body and body.encode(), headers)
    with connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def upper(lines):
    """Stand-in for a translator that refuses digits and has one fault of its own."""
    if "fault" in lines:
        raise RuntimeError
    if "panic" in lines:
        raise BaseException
    if any(line.isdigit() for line in lines):
        raise InputError("digits: not translated; write words")
    return [line.upper() for line in lines]


@pytest.fixture
def server():
    server = Server(("127.0.0.1", 0), upper, ("en", "deu"), ("English", "German"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.finish()
    thread.join()


@pytest.fixture
def port(server):
    return server.server_address[1]


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
        ({"body": {"q": ["a", "b\n\ud83d"], **ENGLISH}}, 400, "q: line 3 has half a character"),
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


def talk(port, sent, ends=False):
    """Send bytes, and close if `ends`; return statuses and text of all answers until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        try:
            while part := connection.recv(1 << 16):
                found += part
        except ConnectionResetError:
            pass  # unread bytes
    return re.findall(r"HTTP/1\.1 (\d+)", text := found.decode()), text


def post(*head, body=b'{"q": "a", "source": "en", "target": "de"}'):
    lines = ["POST /translate HTTP/1.1", "Host: x", *head]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode() + body


FAULT = b'{"q": "fault", "source": "en", "target": "de"}'
NEXT = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (post(f"Content-Length: {'9' * 5000}"), "400", "Content-Length: found '9999"),
        (post("Content-Length: +42"), "400", "expected one number of bytes"),
        (post("Content-Length: 42", "Content-Length: 3"), "400", "found '42, 3', expected one"),
        (post("Content-Length: 42", "Transfer-Encoding: chunked"), "411", "Transfer-Encoding: not read"),
        (post("Transfer-Encoding: chunked"), "411", "give the size of the body: Content-Length"),
        (post("X: y", "Content-Length : 42"), "400", "head: a line is not `name: value`"),
        (post(), "411", "give the size of the body: Content-Length"),
        (NEXT.replace(b"Host: x", b"Content-Length: 5") + b"hello", "200", "ok"),
        (post("Content-Length: 42").replace(b"/translate", b"/other"), "404", "not here"),
        (post("Content-Length: 46", body=FAULT), "500", "the translation failed"),
        (post("Content-Length: 46", body=FAULT.replace(b"fault", b"panic")), "500", "the translation failed"),
    ],
)  # fmt: skip
def test_nothing_is_read_after_a_body_of_doubtful_end(port, sent, status, message, capfd):
    """Later bytes of the connection may belong to the body, so they are not read as a request."""
    statuses, text = talk(port, sent + NEXT)
    assert statuses == [status] and message in text and "Connection: close" in text
    assert ("Traceback" in capfd.readouterr().err) == (status == "500")


def test_requests_of_one_connection_are_answered_in_turn(port):
    bad = post("Content-Length: 41", body=FAULT[:41])
    sent = post("Content-Length: 42") + NEXT + bad + post("Content-Length: 42")
    statuses, text = talk(port, sent, ends=True)
    assert statuses == ["200", "200", "400", "200"] and text.count('{"translatedText": "A"}') == 2


def test_a_body_that_the_client_cuts_is_refused(port):
    """The beginning of the body would be a valid form."""
    form = post("Content-Type: application/x-www-form-urlencoded", "Content-Length: 50",
                body=b"source=en&target=de&q=The+small+bird")  # fmt: skip
    statuses, text = talk(port, form, ends=True)
    assert statuses == ["400"] and "the body ends after 36 of 50 bytes; send it whole" in text
    assert "Connection: close" in text


@pytest.mark.parametrize("sent", [post("Content-Length: 1000", body=b""), NEXT[:20]])
@pytest.mark.parametrize("ending", [False, True])
def test_a_client_that_drips_is_left(server, monkeypatch, sent, ending):
    """Bytes come one by one, but the request never ends; the server closes it, earlier if the server ends."""
    name = "REQUEST_AT_END" if ending else "REQUEST"
    monkeypatch.setattr(request_handler, name, 0.3)
    with socket.create_connection(server.server_address, timeout=20) as connection:
        connection.sendall(sent)
        while not server._connections:
            time.sleep(0.01)
        if ending:
            server.ending.begin()
        start = time.monotonic()
        with suppress(ConnectionError):
            while not select.select([connection], [], [], 0.02)[0]:
                connection.sendall(b" ")
                assert time.monotonic() < start + 5
        assert not server._connections[0].join(5)
        assert not server._connections[0].is_alive()


LIMITED = """
from weebill_runtime.server import Server, serve
serve(Server(("127.0.0.1", 0), list, ("en", "de")))
"""


@pytest.mark.parametrize("limit", ["ulimit -n 40", "ulimit -v 300000"])
def test_the_end_comes_though_descriptors_or_threads_are_used_up(limit):
    shell = f'{limit}; exec "$0" -c "$1"'
    command = ["bash", "-c", shell, sys.executable, LIMITED]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+);", process.stderr.readline())[1])
    clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(60)]
    try:
        clients[0].sendall(NEXT)
        assert b"200 OK" in clients[0].recv(1000)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        before = sum(os.times()[2:4])
        assert process.wait(timeout=5) == 0
        assert (
            sum(os.times()[2:4]) - before < 1.5
        )  # seconds of the processor in its life: it does not spin
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        for client in clients:
            client.close()


def test_a_server_whose_messages_are_refused_ends():
    """It cannot say where it serves: /dev/full stands for a full disk."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", LIMITED], stderr=full, timeout=30)
    assert done.returncode == 1


def test_too_many_connections_are_refused(port, monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS", 0)
    assert ask(port, "GET", "/health")[0] == 503


def test_a_hundred_clients_and_a_clean_end(tmp_path):
    """All clients ask repeatedly at the same time; after SIGTERM, every accepted request still gets an answer."""
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
