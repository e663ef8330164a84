"""Items of the other thread come in order, with its errors, and the thread ends."""

import threading
import time

import pytest

from weebill.ahead import ahead, called_ahead


def test_items_keep_their_order_and_are_made_ahead_but_not_without_bound():
    made = []

    def items():
        for number in range(10):
            made.append(number)
            yield number

    found = ahead(items(), 3)
    assert next(found) == 0
    deadline = time.monotonic() + 10
    while len(made) < 4 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert made == [0, 1, 2, 3]
    assert list(found) == list(range(1, 10))


def test_an_error_comes_in_the_place_of_its_item():
    def items():
        yield 1
        raise OSError("no space left on device")

    found = ahead(items(), 4)
    assert next(found) == 1
    with pytest.raises(OSError, match="no space left"):
        next(found)


def test_a_generator_that_is_closed_early_leaves_no_thread():
    def endless():
        while True:
            yield threading.current_thread()

    found = ahead(endless(), 2)
    thread = next(found)
    assert thread is not threading.current_thread()
    found.close()
    assert not thread.is_alive()


@pytest.mark.parametrize("threads", [1, 3])
def test_results_keep_the_order_of_the_items(threads):
    def late(number: int) -> int:
        time.sleep(0.01 * (number % 3 == 0))
        return -number

    assert list(called_ahead(late, iter(range(10)), threads)) == [-number for number in range(10)]


def test_several_calls_run_at_once_but_no_more_than_asked():
    running, most = 0, 0
    lock, met = threading.Lock(), threading.Barrier(3)

    def call(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if number < 3:
            met.wait(10)  # passes if three calls run at once
        with lock:
            running -= 1
        return number

    assert list(called_ahead(call, range(12), 3)) == list(range(12))
    assert most == 3


def test_one_thread_calls_when_a_result_is_asked_for():
    called = []
    results = called_ahead(called.append, range(5), 1)
    next(results)
    assert called == [0]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("place", ["items", "function"])
def test_an_error_comes_after_the_results_before_it(threads, place):
    def items():
        yield from range(3)
        if place == "items":
            raise OSError("damaged")
        yield 3

    def call(number: int) -> int:
        if number == 3:
            raise OSError("damaged")
        return number

    results, found = called_ahead(call, items(), threads), []
    with pytest.raises(OSError, match="damaged"):
        for result in results:
            found.append(result)
    assert found == [0, 1, 2]
