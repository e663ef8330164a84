"""Reading of a connection until a deadline, which comes sooner when the server ends."""

import io
import select
import socket
import time


class Ending:
    """End of a server; all connections wait for it, as well as for their own bytes.  since: when it began."""

    def __init__(self) -> None:
        self._ends = socket.socketpair()  # the first can be read when the second is closed
        self.since: float | None = None

    def fileno(self) -> int:
        """Return the descriptor that can be read when the end has begun."""
        return self._ends[0].fileno()

    def begin(self) -> None:
        """Tell all connections."""
        self.since = time.monotonic()
        self._ends[1].close()

    def close(self) -> None:
        """Free the descriptors, when no connection is left."""
        for one in self._ends:
            one.close()


class TimedReader(io.RawIOBase):
    """Bytes of a connection; a read after the deadline raises TimeoutError, however many reads there were before."""

    def __init__(self, connection: socket.socket, ending: Ending) -> None:
        self._connection, self._ending = connection, ending
        self.allow(0, 0)

    def allow(self, seconds: float, after_end: float) -> None:
        """Set the deadline: `seconds` from now, but at most `after_end` from now or from the server's end."""
        self._begun, self._seconds, self._after_end = time.monotonic(), seconds, after_end

    def readable(self) -> bool:
        """Implement `RawIOBase`."""
        return True

    def readinto(self, buffer) -> int:
        """Implement `RawIOBase`: wait for bytes, the deadline, or an end that brings the deadline forward."""
        own = self._connection.fileno()
        while True:
            end, until = self._ending.since, self._begun + self._seconds
            events = select.poll()
            events.register(own, select.POLLIN)
            if end is None:
                events.register(self._ending, select.POLLIN)
            else:
                until = min(until, max(self._begun, end) + self._after_end)
            ready = dict(events.poll(1000 * max(0, until - time.monotonic())))
            if own in ready:
                return self._connection.recv_into(buffer)
            if not ready:
                raise TimeoutError("no bytes came until the deadline")
