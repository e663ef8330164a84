"""Server of translations over HTTP, which programs that know LibreTranslate can use.

POST /translate takes `q`, a text or a list of texts, with `source` and `target`, as JSON or as a form, and answers
`{"translatedText": …}`; each line of a text is translated by itself.  GET /languages and GET /health answer as
LibreTranslate does.  Errors are `{"error": …}` with a status.
"""

import json
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from weebill_runtime.errors import InputError
from weebill_runtime.json_text import parse_json
from weebill_runtime.languages import primary
from weebill_runtime.request_batches import Refused, RequestBatches

LARGEST_BODY = 1_000_000  # bytes
CONNECTIONS = 512  # open at once, each with a thread
SILENCE = 30  # seconds until a silent connection is closed
SIGNALLED = 0.5  # seconds until a signal is seen, at most
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class _Fault(Exception):
    """Request that cannot be answered, with its status."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """Connection, with one request after the other."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    fresh = True  # until the first request

    def setup(self) -> None:
        super().setup()
        self.server.open.add(self)

    def finish(self) -> None:
        self.server.open.remove(self)
        super().finish()

    def handle_one_request(self) -> None:
        if self._begins():
            self.fresh = False
            super().handle_one_request()
        else:
            self.close_connection = True

    def _begins(self) -> bool:
        """Wait for a request; return False if the client stays silent, or the server ends before."""
        self.connection.settimeout(0)
        waiting = self.rfile.peek(1)  # read together with the request before
        self.connection.settimeout(self.timeout)
        if waiting:
            return True
        own, end = self.connection.fileno(), self.server.ends[0].fileno()
        events = select.poll()
        for one in (own, end):
            events.register(one, select.POLLIN)
        ready = dict(events.poll(1000 * SILENCE))
        if end in ready and own not in ready and self.fresh:  # what was sent may be on its way
            events.unregister(end)
            ready = dict(events.poll(1000))
        return own in ready

    def do_GET(self) -> None:
        """Answer /health and /languages."""
        if self.path == "/health":
            self._answer(HTTPStatus.OK, {"status": "ok"})
        elif self.path == "/languages":
            self._answer(HTTPStatus.OK, self.server.about)
        else:
            self._answer_fault(self._no_such_path("POST", "/translate"))

    def do_POST(self) -> None:
        """Answer /translate."""
        try:
            if self.path != "/translate":
                self.close_connection = True  # the body is not read
                raise self._no_such_path("GET", "/health", "/languages")
            texts = self._request()
            asked = [texts] if isinstance(texts, str) else texts
            parts = [text.split("\n") for text in asked]
            found = iter(self.server.batches.translate([line for part in parts for line in part]))
            whole = ["\n".join(next(found) for _ in part) for part in parts]
            self._answer(
                HTTPStatus.OK, {"translatedText": whole[0] if texts is not asked else whole}
            )
        except _Fault as fault:
            self._answer_fault(fault)
        except Refused as error:
            self._answer_fault(_Fault(HTTPStatus.SERVICE_UNAVAILABLE, str(error)))
        except InputError as error:
            self._answer_fault(_Fault(HTTPStatus.BAD_REQUEST, str(error)))
        except Exception:
            message = "the translation failed; the server's messages say why"
            self._answer_fault(_Fault(HTTPStatus.INTERNAL_SERVER_ERROR, message))
            raise

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is none, or of another method."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._answer_fault(_Fault(status, message or status.phrase))

    def _no_such_path(self, other: str, *paths: str) -> _Fault:
        if self.path in paths:
            return _Fault(HTTPStatus.METHOD_NOT_ALLOWED, f"{self.path}: use {other}")
        known = "POST /translate, GET /languages and GET /health"
        return _Fault(HTTPStatus.NOT_FOUND, f"{self.path}: not here; there are {known}")

    def _request(self) -> str | list[str]:
        """Return `q` of a sound request."""
        values = self._values(self._body())
        for name, code in zip(("source", "target"), self.server.languages, strict=True):
            found = values.get(name)
            if found == "auto" and name == "source":
                continue
            if not isinstance(found, str) or primary(found) != primary(code):
                raise _Fault(
                    HTTPStatus.BAD_REQUEST, f"{name}: found {found!r:.40}, this model's is '{code}'"
                )
        if values.get("format", "text") != "text":
            raise _Fault(HTTPStatus.BAD_REQUEST, "format: only 'text' is translated; remove tags")
        texts = values.get("q")
        several = isinstance(texts, list) and all(isinstance(one, str) for one in texts)
        if not (isinstance(texts, str) or several):
            raise _Fault(HTTPStatus.BAD_REQUEST, "q: expected a text or a list of texts")
        return texts

    def _body(self) -> bytes:
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit()):
            self.close_connection = True
            raise _Fault(HTTPStatus.LENGTH_REQUIRED, "give the size of the body: Content-Length")
        if int(size) > LARGEST_BODY:
            self.close_connection = True
            for _ in range(min(int(size), 10 * LARGEST_BODY) >> 16):
                self.rfile.read(1 << 16)  # a client that still writes would not read the answer
            raise _Fault(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a body of {int(size):,} bytes, at most {LARGEST_BODY:,} are read; ask in parts",
            )
        return self.rfile.read(int(size))

    def _values(self, body: bytes) -> dict[str, Any]:
        kind = self.headers.get_content_type()
        try:
            if kind == FORM:
                pairs = parse_qs(body.decode("utf-8"), keep_blank_values=True, errors="strict")
                return {
                    name: found[0] if name != "q" or len(found) == 1 else found
                    for name, found in pairs.items()
                }
            values = parse_json(body.decode("utf-8"))
        except ValueError as error:
            raise _Fault(HTTPStatus.BAD_REQUEST, f"body: not read as {kind} ({error})") from error
        if not isinstance(values, dict):
            raise _Fault(
                HTTPStatus.BAD_REQUEST, "body: expected a JSON object with q, source, target"
            )
        return values

    def _answer_fault(self, fault: _Fault) -> None:
        self._answer(fault.status, {"error": str(fault)})

    def _answer(self, status: HTTPStatus, value: Any) -> None:
        body = json.dumps(value, ensure_ascii=False).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", f"{JSON}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header("Retry-After", "1")
        if self.server.ending:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: texts and addresses are the users' own."""


class Server(ThreadingHTTPServer):
    """Server of one translator; `languages`: codes of its source and target; names: what people call them."""

    request_queue_size = 1024
    daemon_threads = False  # answers are finished at the end

    def __init__(
        self,
        address: tuple[str, int],
        translate: Callable[[list[str]], list[str]],
        languages: tuple[str, str],
        names: tuple[str, str] | None = None,
    ) -> None:
        self.languages, self.ending = languages, False
        self.open: set[_Handler] = set()
        self.ends = socket.socketpair()  # the first can be read when the second is closed
        source, target = (
            {"code": code, "name": name}
            for code, name in zip(languages, names or languages, strict=True)
        )
        self.about = [{**source, "targets": [target["code"]]}, {**target, "targets": []}]
        try:
            super().__init__(address, _Handler)
        # Python raises the last two for names that no host can have.
        except (OSError, OverflowError, TypeError, UnicodeError) as error:
            raise InputError(
                f"{address[0]}:{address[1]}: cannot be listened on ({error}); choose another host or port"
            ) from error
        self.batches = RequestBatches(translate)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread; refuse it if too many are open."""
        if len(self.open) < CONNECTIONS:
            super().process_request(request, client_address)
            return
        body = b'{"error": "too many connections are open; ask again later"}'
        head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: {JSON}\r\nRetry-After: 1\r\n"
        with suppress(OSError):
            request.sendall(
                f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
            )
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless the client has gone."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def finish(self) -> None:
        """Stop listening, answer what has come in, and end all connections."""
        self.shutdown()
        self.ending = True
        self.ends[1].close()
        self.socket.settimeout(0)
        with suppress(BlockingIOError):  # connections that nobody has accepted yet
            while True:
                self.process_request(*self.get_request())
        self.server_close()  # waits for the threads
        self.ends[0].close()
        self.batches.close()


def serve(server: Server) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was accepted.  A second signal ends the process at once."""
    end = threading.Event()
    former = {
        one: signal.signal(one, lambda *_: end.set()) for one in (signal.SIGTERM, signal.SIGINT)
    }
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    host, port = server.server_address[:2]
    print(f"serving on http://{host}:{port}; Ctrl-C ends", file=sys.stderr, flush=True)
    # A signal that the system gives to another thread does not end a wait here.
    while not end.wait(SIGNALLED):
        pass
    for one, handler in former.items():
        signal.signal(one, handler)
    server.finish()
    thread.join()
