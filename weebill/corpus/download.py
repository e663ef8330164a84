"""Download of files by URL into a cache; interrupted downloads resume, and files appear whole or not at all."""

import errno
import logging
import os
import re
import shutil
import socket
import ssl
import time
import urllib.request
from contextlib import closing
from email.message import Message
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlparse

from weebill.durable import sync
from weebill.errors import InputError
from weebill.files import LOCK, exclusive_folder, sha256_file, sha256_text, write_text
from weebill.workflow.progress import tell

log = logging.getLogger(__name__)

ATTEMPTS = 4  # attempts without a new byte; an attempt with new bytes restarts the count
PAUSE_S = 2.0  # pause before the second attempt; it doubles before each further one
TIMEOUT_S = 60
BLOCK = 1 << 20
PASSING = (408, 429)  # temporary refusals of a server, like all of 5xx
IN_CACHE = re.compile("[0-9a-f]{32}")  # name of a file's folder
REST = re.compile(r"bytes (\d+)-\d+/(\d+)", re.ASCII)  # a Content-Range with the size of the file


def cache_folder() -> Path:
    """Return the folder of fetched files: `downloads` in $WEEBILL_CACHE, or else in ~/.cache/weebill.

    Raises InputError if the variable is not set and the user has no home, as in a container.
    """
    if own := os.environ.get("WEEBILL_CACHE"):
        return Path(own, "downloads")
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise InputError(
            "fetched files: this user has no home folder; name one by $WEEBILL_CACHE"
        ) from error
    return Path(base, "weebill", "downloads")


def is_url(place: str) -> bool:
    """Return True if a file's place is an address, not a path."""
    return "://" in place


def is_sound(url: str) -> bool:
    """Return True if an address names a host, and its port, if any, is a number."""
    try:
        parts = urlparse(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def path_in(url: str) -> str:
    """Return the path of an address; "" if the address is not sound."""
    return urlparse(url).path if is_sound(url) else ""


def base_name(url: str) -> str:
    """Return the last part of an address's path, for use as a file name."""
    return Path(unquote(path_in(url))).name or "file"


def cached(url: str, sha256: str | None, cache: Path) -> Path:
    """Return the path in the cache of an address's file; address and checksum determine it."""
    return cache / sha256_text(f"{url}\n{sha256 or ''}")[:32] / base_name(url)


def again(path: Path) -> str:
    """Return the remedy for a bad file: a file in a cache must be removed, and is then fetched again."""
    in_cache = IN_CACHE.fullmatch(path.parent.name) and (path.parent / LOCK).is_file()
    return f"remove {path} and run again" if in_cache else "fetch the file again"


def fetched(
    url: str,
    sha256: str | None = None,
    cache: Path | None = None,
    wanted: str | None = None,
    mirrored: Path | None = None,
) -> Path:
    """Return the file of an address in the cache; fetch it if it is missing.

    A broken download continues after its last byte if the server allows it.  If another process is fetching the same
    file, wait.  cache: folder, by default `cache_folder()`.  wanted: the file's name in `local_dir`, for messages.
    mirrored: a local copy of the file, which is used instead of the network.
    Raises InputError if the file cannot be fetched or has another checksum.
    """
    path = cached(url, sha256, cache_folder() if cache is None else cache)
    with exclusive_folder(path.parent):
        if path.is_file():
            if sha256 is not None:
                verify(path, str(path), sha256, again(path))
            return path
        partial = path.with_name(f".{path.name}.part")
        try:
            if mirrored is not None:
                log.info("copying %s from %s", url, mirrored)
                _forget(partial)
                shutil.copyfile(mirrored, partial)
            else:
                log.info("fetching %s", url)
                _fetch(url, partial)
        except (OSError, ValueError, HTTPException) as error:
            number = getattr(error, "errno", None)
            if number in (errno.ENOSPC, errno.EDQUOT):  # `errors.explain` gives the remedy
                raise OSError(number, os.strerror(number), str(path)) from error
            raise InputError(
                f"{url}: cannot be fetched ({error}); check the address and the network, or get the "
                f"file elsewhere and put it as '{wanted or path.name}' into a folder that the "
                "configuration names as `local_dir`"
            ) from error
        if sha256 is not None:
            remedy = mirrored and f"put what {url} holds there, or remove it from the mirror"
            try:
                verify(partial, str(mirrored or url), sha256, remedy)
            except InputError:
                _forget(partial)  # a complete wrong file cannot be continued
                raise
        os.replace(partial, path)
        sync(path.parent)
        _forget(partial)
    return path


def verify(path: Path, place: str, sha256: str, remedy: str | None = None) -> None:
    """Raise InputError, which names `place`, if a file has another checksum."""
    found = sha256_file(path)
    if found != sha256.lower():
        remedy = remedy or "fetch the file again, or correct the checksum in the configuration"
        raise InputError(f"{place}: sha256 is {found}, expected {sha256.lower()}; {remedy}")


def _fetch(url: str, partial: Path) -> None:
    """Complete `partial` from the address; try again as long as attempts make progress."""
    failures = 0
    while True:
        before = _size(partial)
        try:
            return _attempt(url, partial)
        except (OSError, HTTPException) as error:
            failures = 1 if _size(partial) > before else failures + 1
            if failures == ATTEMPTS or _lasting(error):
                raise
            log.info("%s: broke off at %s bytes (%s)", url, f"{_size(partial):,}", error)
            time.sleep(PAUSE_S * 2 ** (failures - 1))


def _attempt(url: str, partial: Path) -> None:
    """Request the missing part of `partial` once; raise ConnectionError if the answer ends early."""
    start, mark = _size(partial), _mark(partial)
    # Unless the server confirms that the file is unchanged, the rest may be another file's.
    headers = {"User-Agent": "weebill"}
    if start and mark.is_file():
        headers |= {"Range": f"bytes={start}-", "If-Range": mark.read_text(encoding="utf-8")}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT_S)
    except HTTPError as error:
        if error.code == 416:  # nothing follows the last byte: the part belongs to another file
            _forget(partial)
            raise ConnectionError("the server knows no such rest of the file") from error
        raise
    with closing(answer):
        start, total = _place(answer, start, partial)
        with partial.open("ab") as file:
            with _progress(file, start, total) as shown:
                shutil.copyfileobj(answer, _told(shown, start, total), BLOCK)
            file.flush()
            os.fsync(file.fileno())
    if total is not None and _size(partial) != total:
        got = f"{_size(partial):,} of {total:,} bytes"
        raise ConnectionError(f"the connection broke off after {got}")


def _place(answer: Any, start: int, partial: Path) -> tuple[int, int | None]:
    """Return the offset in the file at which an answer begins, and the file's size, None if it is unknown.

    start: size of our part, which is removed unless the answer continues it.
    Raises ConnectionError if the answer is neither the file nor the requested rest.
    """
    known = _identity(answer.headers)
    if answer.status == HTTPStatus.PARTIAL_CONTENT:
        found = REST.fullmatch(answer.headers.get("Content-Range", ""))
        mark = _mark(partial)
        ours = mark.read_text(encoding="utf-8") if start and mark.is_file() else None
        if found and ours and int(found[1]) == start and known in (None, ours):
            return start, int(found[2])
        _forget(partial)
        raise ConnectionError("the server sent another part of the file than was asked for")
    if answer.status not in (HTTPStatus.OK, None):  # None: the protocol is not HTTP
        raise ConnectionError(
            f"the server answered {answer.status} {answer.reason}, without the file"
        )
    _forget(partial)
    if known:
        write_text(_mark(partial), known)
    length = answer.headers.get("Content-Length")
    return 0, None if length is None else int(length)


def _identity(headers: Message) -> str | None:
    """Return the strong ETag or date that identifies the server's present file; None if the server sends neither."""
    tag = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified")


def _progress(file: IO[bytes], start: int, total: int | None):
    """Return a context whose file writes to `file` and shows a progress bar, if standard error is a terminal."""
    from tqdm import tqdm

    name = Path(file.name).name.removeprefix(".").removesuffix(".part")
    return tqdm.wrapattr(file, "write", total=total, initial=start, desc=name, disable=None)


def _told(file: IO[bytes], start: int, total: int | None) -> SimpleNamespace:
    """Return a writer to `file` that also reports its progress to the display of a run."""
    done = start

    def write(block: bytes) -> None:
        nonlocal done
        file.write(block)
        done += len(block)
        tell(done >> 20, total and total >> 20, "MiB")

    return SimpleNamespace(write=write)


def _mark(partial: Path) -> Path:
    """Return the path of the file that stores the identity of the server's file."""
    return partial.with_name(f"{partial.name}.mark")


def _forget(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _mark(partial).unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _lasting(error: BaseException) -> bool:
    """Return True if another attempt would fail too: refusal, unknown host, bad certificate or full disk."""
    if isinstance(error, HTTPError):
        return error.code < 500 and error.code not in PASSING
    if isinstance(error, URLError):
        lasting = str | socket.gaierror | FileNotFoundError | ssl.SSLCertVerificationError
        return isinstance(error.reason, lasting)
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
