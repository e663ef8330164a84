"""Parts are prepared in advance, and their results come in order; an error comes at its part."""

import pytest

from weebill.metric.overlap import in_parts


@pytest.mark.parametrize("overlapped", [False, True])
def test_results_are_in_order(overlapped):
    events = []

    def begin(part, prepared):
        events.append(("begin", part))
        return lambda: events.append(("result", part)) or (part, prepared)

    found = list(in_parts(range(5), lambda part: part * 10, begin, overlapped=overlapped))
    assert found == [(part, part * 10) for part in range(5)]
    later = events.index(("begin", 1)) < events.index(("result", 0))
    assert later == overlapped


@pytest.mark.parametrize("overlapped", [False, True])
def test_an_error_arrives(overlapped):
    def prepare(part):
        if part == 2:
            raise ValueError("part 2 is bad")
        return part

    found = in_parts(
        range(4), prepare, lambda part, prepared: lambda: prepared, overlapped=overlapped
    )
    with pytest.raises(ValueError, match="part 2 is bad"):
        list(found)
    assert list(in_parts([], prepare, lambda *_: None, overlapped=overlapped)) == []
