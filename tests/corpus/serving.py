"""Web server in this process. Tests can make it break off, ignore ranges, or change a file."""

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse


class Site:
    """Content of the server, and received requests.

    files: bytes by path ("/a.gz").
    breaks: by path, the number of bytes after which each coming answer's body ends.
    ranges: True if it answers Range requests.
    tag: ETag of all files; None: each file has its own.
    replies: by path, status, headers and body of each coming answer, whatever the request is.
    seen: (path, Range or None) of each request.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}
        self.breaks: dict[str, list[int]] = {}
        self.ranges = True
        self.tag: str | None = None
        self.replies: dict[str, list[tuple[int, dict[str, str], bytes]]] = {}
        self.seen: list[tuple[str, str | None]] = []

    def add(self, path: str, body: bytes) -> str:
        """Serve a new file and return its address."""
        self.files[path] = body
        return self.address + path


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site, path = self.server.site, urlparse(self.path).path
        asked = self.headers.get("Range")
        site.seen.append((path, asked))
        if site.replies.get(path):
            self._reply(*site.replies[path].pop(0))
            return
        body = site.files.get(path)
        if body is None:
            self.send_error(404)
            return
        tag, start = site.tag or f'"{hash(body)}"', 0
        if asked and site.ranges and self.headers.get("If-Range") == tag:
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        cut = site.breaks.get(path)
        self.wfile.write(body[start : start + cut.pop(0)] if cut else body[start:])

    def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        pass


@contextmanager
def serving():
    """Serve a Site while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
