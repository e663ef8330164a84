"""Work in parts: one part is prepared while a GPU computes another."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from weebill.ahead import ahead

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")
Result = TypeVar("Result")

AT_ONCE = {"cpu": 4096, "cuda": 16_384}  # items of a part; a cache of vectors is written after each
AHEAD = 2  # parts that are prepared before they are requested


def in_parts(
    items: Sequence[Item],
    prepare: Callable[[Sequence[Item]], Prepared],
    begin: Callable[[Sequence[Item], Prepared], Callable[[], Result]],
    device: str,
) -> Iterator[Result]:
    """Yield the result of each part, in order.

    prepare: makes what `begin` takes.  begin: starts the work and returns a function that waits for its result.
    device: PyTorch's type of device.  On a GPU the next parts are prepared in another thread, and the next one begins
    before the result of the one before is waited for.
    """
    count = AT_ONCE.get(device, AT_ONCE["cpu"])
    parts = (items[start : start + count] for start in range(0, len(items), count))
    if device == "cpu":
        yield from (begin(part, prepare(part))() for part in parts)
        return
    begun: deque[Callable[[], Result]] = deque()
    for part, prepared in ahead(((part, prepare(part)) for part in parts), AHEAD):
        begun.append(begin(part, prepared))
        if len(begun) > 1:
            yield begun.popleft()()
    yield from (one() for one in begun)
