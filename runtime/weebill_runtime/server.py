"""Server of translations over HTTP, which programs that know LibreTranslate can use.

POST /translate takes `q`, a text or a list of texts, with `source` and `target`, as JSON or as a form, and answers
`{"translatedText": …}`; each line of a text is translated by itself.  GET /languages and GET /health answer as
LibreTranslate does.  Errors are `{"error": …}` with a status.
"""

import errno
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Any

from weebill_runtime.deadlines import Ending
from weebill_runtime.errors import InputError
from weebill_runtime.request_batches import RequestBatches
from weebill_runtime.request_handler import JSON, Handler

CONNECTIONS = 512  # open at once, each with a thread
SIGNALLED = 0.5  # seconds until a signal is seen, at most
USED_UP = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)  # no descriptors or memory left
PAUSE = 0.1  # seconds until a connection is accepted again, after something was used up
LAST_ACCEPTED = 2  # seconds, at the end, in which connections that wait are accepted


class Server(ThreadingHTTPServer):
    """Server of one translator; `languages`: codes of its source and target; names: what people call them."""

    request_queue_size = 1024

    def __init__(
        self,
        address: tuple[str, int],
        translate: Callable[[list[str]], list[str]],
        languages: tuple[str, str],
        names: tuple[str, str] | None = None,
    ) -> None:
        self.languages, self.ending = languages, Ending()
        self._connections: list[threading.Thread] = []
        source, target = (
            {"code": code, "name": name}
            for code, name in zip(languages, names or languages, strict=True)
        )
        self.about = [{**source, "targets": [target["code"]]}, {**target, "targets": []}]
        try:
            super().__init__(address, Handler)
        # Python raises the last two for names that no host can have.
        except (OSError, OverflowError, TypeError, UnicodeError) as error:
            raise InputError(
                f"{address[0]}:{address[1]}: cannot be listened on ({error}); choose another host or port"
            ) from error
        self.batches = RequestBatches(translate)

    def get_request(self) -> Any:
        """Accept a connection; pause before an error for lack of descriptors or memory."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in USED_UP:
                time.sleep(PAUSE)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a thread; refuse it if too many are open, or the system has no more threads."""
        self._connections = [one for one in self._connections if one.is_alive()]
        if len(self._connections) < CONNECTIONS:
            thread = threading.Thread(
                target=self.process_request_thread, args=(request, client_address), daemon=False
            )
            with suppress(RuntimeError):
                thread.start()
                self._connections.append(thread)
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
        self.ending.begin()
        self.socket.settimeout(0)
        try:
            self._accept_waiting()
        finally:
            self.server_close()
            for thread in self._connections:  # answers are finished
                thread.join()
            self.ending.close()
            self.batches.close()

    def _accept_waiting(self) -> None:
        """Accept the connections that are still waiting."""
        until = time.monotonic() + LAST_ACCEPTED
        while time.monotonic() < until:
            try:
                accepted = self.get_request()
            except BlockingIOError:
                return
            except OSError:  # connections that end will free descriptors
                continue
            self.process_request(*accepted)


def serve(server: Server) -> None:
    """Serve until SIGTERM or SIGINT; then finish what was accepted.  A second signal ends the process at once."""
    end = threading.Event()
    former = {
        one: signal.signal(one, lambda *_: end.set()) for one in (signal.SIGTERM, signal.SIGINT)
    }
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
    thread.start()
    host, port = server.server_address[:2]
    try:  # standard error may be a full disk
        print(f"serving on http://{host}:{port}; Ctrl-C ends", file=sys.stderr, flush=True)
        # A signal that the system gives to another thread does not end a wait here.
        while not end.wait(SIGNALLED):
            pass
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)
        server.finish()
        thread.join()
