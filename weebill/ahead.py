"""Work on an iterator's next items by other threads, so that a GPU never waits for what the processor does."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
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


def called_ahead(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Yield the function's result for each item in order.

    threads: number of calls at once, for the next items; 1 calls it in this thread, when a result is asked for.
    An error of the function or of `items` is raised after the results before it.
    """
    if threads == 1:
        yield from map(function, items)
        return
    failures, pending = [], deque()

    def given() -> Iterator[Item]:
        try:
            yield from items
        except Exception as error:
            failures.append(error)

    pool = ThreadPoolExecutor(threads, thread_name_prefix="ahead")
    try:
        for item in given():
            pending.append(pool.submit(function, item))
            if len(pending) == threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
        for error in failures:
            raise error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
