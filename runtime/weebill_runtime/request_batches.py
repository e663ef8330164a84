"""Concurrent requests translated together: one call of the engine serves all that wait."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future


class Refused(Exception):
    """Request that is not accepted now: too many lines wait, or the server ends."""


class RequestBatches:
    """Queue of requests and the thread that translates them; each request gets its own lines back.

    translate: function of a list of lines.  waiting: largest number of lines that wait.  together: number of lines
    from which a batch takes no further request.
    """

    def __init__(
        self,
        translate: Callable[[list[str]], list[str]],
        waiting: int = 10_000,
        together: int = 512,
    ) -> None:
        self._translate, self._waiting, self._together = translate, waiting, together
        self._requests: deque[tuple[list[str], Future]] = deque()
        self._lines, self._closed = 0, False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="translations")
        self._thread.start()

    def translate(self, lines: list[str]) -> list[str]:
        """Return the translations of lines.  Raises Refused, or the error of these lines."""
        future: Future = Future()
        with self._changed:
            if self._closed:
                raise Refused("the server is ending; ask another one")
            if self._lines and self._lines + len(lines) > self._waiting:
                raise Refused(f"{self._lines:,} lines are waiting; ask again later")
            self._lines += len(lines)
            self._requests.append((lines, future))
            self._changed.notify()
        return future.result()

    def close(self) -> None:
        """Accept no more requests, and return when all accepted ones are translated."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next():
            if not self._answer(batch) and len(batch) > 1:  # one of them is at fault
                for one in batch:
                    self._answer([one])
            with self._changed:
                self._lines -= sum(len(lines) for lines, _ in batch)

    def _answer(self, batch: list[tuple[list[str], Future]]) -> bool:
        """Translate requests together; after an error, pass it to a single request, or return False for several."""
        try:
            rest = iter(self._translate([line for lines, _ in batch for line in lines]))
            found = [[next(rest) for _ in lines] for lines, _ in batch]
        # A library's panic is no Exception; if it ended this thread, no request would ever be answered.
        except BaseException as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
            return False
        for (_, future), translations in zip(batch, found, strict=True):
            future.set_result(translations)
        return True

    def _next(self) -> list[tuple[list[str], Future]]:
        """Return the requests of the next batch; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests or self._closed)
            batch, lines = [], 0
            while self._requests and lines < self._together:
                batch.append(self._requests.popleft())
                lines += len(batch[-1][0])
            return batch
