"""Work in parts: one part is prepared while a GPU computes another."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from weebill.ahead import ahead

Part = TypeVar("Part")
Prepared = TypeVar("Prepared")
Result = TypeVar("Result")

AHEAD = 2  # parts that are prepared before they are requested


def in_parts(
    parts: Iterable[Part],
    prepare: Callable[[Part], Prepared],
    begin: Callable[[Part, Prepared], Callable[[], Result]],
    *,
    overlapped: bool,
) -> Iterator[Result]:
    """Yield the result of each part, in order.

    prepare: makes what `begin` takes.  begin: starts the work and returns a function that waits for its result.
    overlapped: prepare the next parts in another thread, and begin the next one before waiting for a result.
    """
    if not overlapped:
        yield from (begin(part, prepare(part))() for part in parts)
        return
    begun: deque[Callable[[], Result]] = deque()
    for part, prepared in ahead(((part, prepare(part)) for part in parts), AHEAD):
        begun.append(begin(part, prepared))
        if len(begun) > 1:
            yield begun.popleft()()
    yield from (one() for one in begun)
