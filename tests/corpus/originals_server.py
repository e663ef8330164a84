"""Server of the originals of all public texts: a process without a network gets them by their own addresses.

`python -m tests.corpus.originals_server MIRROR COMMAND …` runs a command with a proxy for its HTTPS requests, which
has its own certificate for every host of the catalogue and answers with files of the mirror.
"""

import argparse
import gzip
import lzma
import os
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlparse

from weebill.corpus.origins import catalogue


def originals(mirror: Path) -> dict[str, Path]:
    """Return the files of a mirror by the original addresses."""
    sources = [one for text in catalogue().values() for one in text.originals.values()]
    found = {
        one.place: next(mirror.glob(f"{one.mirrored or one.sha256}*"), None) for one in sources
    }
    return {place: path for place, path in found.items() if path is not None}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self) -> None:
        """Open the tunnel, and answer in it as the requested host."""
        self.host = self.path.partition(":")[0]
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)
        self.close_connection = False

    def do_GET(self) -> None:
        path = self.server.files.get(f"https://{self.host}{self.path}")
        if path is None:
            self.send_error(404)
            return
        self.server.seen.append(path.name)
        body = path.read_bytes()
        if path.name.startswith(
            "git-tree-"
        ):  # a mirror may pack a tree of files otherwise than its host
            body = gzip.compress(lzma.decompress(body), 1)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        pass


@contextmanager
def serving(files: Mapping[str, Path]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Serve files under HTTPS addresses; yield the environment for clients, and the names of served files."""
    hosts = sorted({urlparse(address).netloc for address in files})
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
        names = ",".join(f"DNS:{host}" for host in hosts)
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-subj", "/CN=originals", "-addext", f"subjectAltName={names}"]
        command += ["-keyout", key, "-out", certificate]
        subprocess.run(command, check=True, capture_output=True)
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.files, server.seen = files, []
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(certificate, key)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        proxy = f"http://127.0.0.1:{server.server_port}"
        try:
            yield {"https_proxy": proxy, "SSL_CERT_FILE": str(certificate)}, server.seen
        finally:
            server.shutdown()
            server.server_close()


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    environment = {name: value for name, value in os.environ.items() if name != "WEEBILL_MIRROR"}
    with serving(originals(arguments.mirror)) as (leading_here, seen):
        code = subprocess.run(arguments.command, env=environment | leading_here).returncode
    print(f"{len(seen)} files served", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
