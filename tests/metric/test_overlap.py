"""Parts are prepared in advance, and their results come in order; an error comes at its part."""

import pytest

from weebill.metric import overlap
from weebill.metric.overlap import in_parts


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_results_are_in_order(device, monkeypatch):
    monkeypatch.setattr(overlap, "AT_ONCE", {"cpu": 2, "cuda": 2})
    events = []

    def begin(part, prepared):
        events.append(("begin", part))
        return lambda: events.append(("result", part)) or (part, prepared)

    found = list(in_parts("abcde", str.upper, begin, device))
    assert found == [("ab", "AB"), ("cd", "CD"), ("e", "E")]
    later = events.index(("begin", "cd")) < events.index(("result", "ab"))
    assert later == (device == "cuda")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_error_arrives(device, monkeypatch):
    monkeypatch.setattr(overlap, "AT_ONCE", {"cpu": 1})

    def prepare(part):
        if part == [2]:
            raise ValueError("part 2 is bad")
        return part

    found = in_parts([0, 1, 2, 3], prepare, lambda part, prepared: lambda: prepared, device)
    with pytest.raises(ValueError, match="part 2 is bad"):
        list(found)
    assert list(in_parts([], prepare, lambda *_: None, device)) == []
