"""Items of the other thread come in order, with its errors, and the thread ends."""

import threading
import time

import pytest

from weebill.ahead import ahead


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
