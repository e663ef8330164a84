"""Waiting requests are translated together, and each gets its own lines or its own error."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from weebill_runtime.errors import InputError
from weebill_runtime.request_batches import Refused, RequestBatches


class Slow:
    """Translator that waits for `go`, and fails for the line 7."""

    def __init__(self, error=InputError):
        self.error = error
        self.go, self.begun, self.calls = threading.Event(), threading.Event(), []

    def __call__(self, lines):
        self.calls.append(lines)
        self.begun.set()
        self.go.wait(60)
        if "7" in lines:
            raise self.error("7")
        return [line + "!" for line in lines]


@pytest.fixture
def slow():
    return Slow()


class Panic(BaseException):
    """Error of a library in Rust; like PyO3's, it is no Exception."""


@pytest.mark.parametrize("error", [InputError, RuntimeError, Panic])
def test_one_call_serves_all_that_wait(error):
    slow = Slow(error)
    batches = RequestBatches(slow)
    with ThreadPoolExecutor(11) as clients:
        first = clients.submit(batches.translate, ["first"])
        slow.begun.wait(60)
        rest = [clients.submit(batches.translate, [str(number)] * number) for number in range(10)]
        while len(batches._requests) < 10:
            pass
        slow.go.set()
        assert first.result() == ["first!"]
        for number, one in enumerate(rest):
            if number == 7:
                with pytest.raises(error):
                    one.result()
            else:
                assert one.result() == [f"{number}!"] * number
    assert len(slow.calls) == 2 + 10, "together, and then one by one, because one was at fault"
    batches.close()


def test_a_full_queue_refuses(slow):
    batches = RequestBatches(slow, waiting=3)
    with ThreadPoolExecutor(2) as clients:
        large = clients.submit(batches.translate, ["a"] * 9)  # accepted, as nothing waits
        slow.begun.wait(60)
        with pytest.raises(Refused, match="9 lines are waiting; ask again later"):
            batches.translate(["b"])
        slow.go.set()
        assert len(large.result()) == 9
    batches.close()
    with pytest.raises(Refused, match="ending"):
        batches.translate(["c"])


def test_the_end_finishes_what_was_accepted(slow):
    batches = RequestBatches(slow, together=1)
    with ThreadPoolExecutor(6) as clients:
        found = [clients.submit(batches.translate, [str(number)]) for number in range(5)]
        while len(batches._requests) < 4:
            pass
        end = clients.submit(batches.close)
        slow.go.set()
        end.result()
        assert [one.result() for one in found] == [[f"{number}!"] for number in range(5)]
