"""Answers to the requests of one connection of the server."""

import io
import json
from contextlib import suppress
from email.errors import MissingHeaderBodySeparatorDefect
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from weebill_runtime.deadlines import TimedReader
from weebill_runtime.errors import InputError
from weebill_runtime.json_text import parse_json
from weebill_runtime.languages import same_language
from weebill_runtime.lines import checked_lines
from weebill_runtime.request_batches import Refused

if TYPE_CHECKING:
    from weebill_runtime.server import Server

LARGEST_BODY = 1_000_000  # bytes
# In seconds.  SILENCE: until a connection without a request, or whose client reads nothing, is closed.  REQUEST: for
# a request with its body.  When the server ends: until a new connection's request begins, and for that request.
SILENCE = 30
REQUEST = 60
FIRST_AT_END, REQUEST_AT_END = 1, 3
LONGEST_SIZE = 19  # digits
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class _Fault(Exception):
    """Request that cannot be answered, with its status."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """Connection, with one request after the other."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    timeout = SILENCE  # of a write
    disable_nagle_algorithm = True  # a body would wait for the acknowledgement of its head
    fresh = True  # until the first request

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._reader = TimedReader(self.connection, self.server.ending)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        # The first bytes of a new client may still be on their way.
        self._reader.allow(SILENCE, FIRST_AT_END if self.fresh else 0)
        try:
            begins = self.rfile.peek(1)
        except TimeoutError:
            begins = b""
        if not begins:
            self.close_connection = True
            return
        self.fresh = False
        self._reader.allow(REQUEST, REQUEST_AT_END)
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read the head; refuse one that leaves in doubt where its body ends and the next request begins."""
        if not super().parse_request():
            return False
        sizes = self.headers.get_all("Content-Length", [])
        sound = all(one.isascii() and one.isdigit() and len(one) <= LONGEST_SIZE for one in sizes)
        if any(isinstance(one, MissingHeaderBodySeparatorDefect) for one in self.headers.defects):
            self.send_error(HTTPStatus.BAD_REQUEST, "head: a line is not `name: value`")
        elif "Transfer-Encoding" in self.headers:
            message = "Transfer-Encoding: not read; give the size of the body: Content-Length"
            self.send_error(HTTPStatus.LENGTH_REQUIRED, message)
        elif len(sizes) > 1 or not sound:
            found = f"{', '.join(sizes):.40}"
            message = f"Content-Length: found {found!r}, expected one number of bytes"
            self.send_error(HTTPStatus.BAD_REQUEST, message)
        else:
            self._size = int(sizes[0]) if sizes else None
            return True
        return False

    def do_GET(self) -> None:
        """Answer /health and /languages."""
        if self._size:
            self._drop_body()
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
                self._drop_body()
                raise self._no_such_path("GET", "/health", "/languages")
            texts = self._request()
            asked = [texts] if isinstance(texts, str) else texts
            parts = [text.split("\n") for text in asked]
            lines = checked_lines("q", (line for part in parts for line in part))
            found = iter(self.server.batches.translate(lines))
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
        except ConnectionError:
            raise
        except BaseException:
            self.close_connection = True
            self.server.handle_error(self.request, self.client_address)
            message = "the translation failed; the server's messages say why"
            self._answer_fault(_Fault(HTTPStatus.INTERNAL_SERVER_ERROR, message))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is malformed, or of another method."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._answer_fault(_Fault(status, message or status.phrase))

    def _no_such_path(self, other: str, *paths: str) -> _Fault:
        if self.path in paths:
            return _Fault(HTTPStatus.METHOD_NOT_ALLOWED, f"{self.path}: use {other}")
        known = "POST /translate, GET /languages and GET /health"
        return _Fault(HTTPStatus.NOT_FOUND, f"{self.path}: not here; there are {known}")

    def _request(self) -> str | list[str]:
        """Return `q` of a valid request."""
        values = self._values(self._body())
        for name, code in zip(("source", "target"), self.server.languages, strict=True):
            found = values.get(name)
            if found == "auto" and name == "source":
                continue
            if not isinstance(found, str) or not same_language(found, code):
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
        size = self._size
        if size is None:
            self.close_connection = True
            raise _Fault(HTTPStatus.LENGTH_REQUIRED, "give the size of the body: Content-Length")
        if size > LARGEST_BODY:
            self._drop_body()
            raise _Fault(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a body of {size:,} bytes, at most {LARGEST_BODY:,} are read; ask in parts",
            )
        try:
            body = self.rfile.read(size)
        except TimeoutError as error:
            self.close_connection = True
            message = f"the body of {size:,} bytes did not come in time"
            raise _Fault(HTTPStatus.REQUEST_TIMEOUT, message) from error
        if len(body) < size:
            self.close_connection = True
            message = f"the body ends after {len(body):,} of {size:,} bytes; send it whole"
            raise _Fault(HTTPStatus.BAD_REQUEST, message)
        return body

    def _drop_body(self) -> None:
        """Discard the body, because a client that still writes would not read the answer; then close."""
        self.close_connection = True
        left = min(self._size or 0, 10 * LARGEST_BODY)
        with suppress(TimeoutError):
            while left and (part := self.rfile.read1(min(left, 1 << 16))):
                left -= len(part)

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
        if self.server.ending.since is not None:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: texts and addresses are the users' own."""
