"""Preparation of an iterator's next items by another thread, so that a GPU never waits for its next batch."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
END = object()


def ahead(items: Iterator[Item], count: int) -> Iterator[Item]:
    """Yield the items in order; another thread makes up to `count` of them in advance.

    An error of the iterator is raised in place of its item.  The thread ends with this generator.
    """
    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    try:
        pending = deque(thread.submit(next, items, END) for _ in range(count))
        while (item := pending.popleft().result()) is not END:
            pending.append(thread.submit(next, items, END))
            yield item
    finally:
        thread.shutdown(wait=True, cancel_futures=True)
