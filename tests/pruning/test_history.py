"""The table of heads has all heads of the blocks from which a method chose, scored or not."""

from weebill.pruning.history import head_rows, to_csv

HISTORY = {
    "steps": [
        {"removed": {"heads": {"a": [1]}, "neurons": {}}, "scores": {"a": {"0": 0.5, "1": 0.25}}},
        {"removed": {"heads": {"b": [0, 2]}, "neurons": {"f": [3]}}, "scores": {"a": {"0": 0.75}}},
    ],
    "survivors": {"heads": {"b": [1], "a": [0], "c": [0, 1]}, "neurons": {"f": [0]}},
}


def test_removed_scored_and_left_heads_have_a_row():
    rows = [(r["block"], r["head"], r["removed_in"], r["score"]) for r in head_rows(HISTORY)]
    assert rows == [
        ("b", 0, 2, None),
        ("b", 1, None, None),
        ("b", 2, 2, None),
        ("a", 0, None, 0.75),
        ("a", 1, 1, 0.25),
    ]


def test_what_is_not_known_stays_empty():
    text = to_csv({"student": "s", "recipe": "r", **row} for row in head_rows(HISTORY))
    assert text.splitlines()[:3] == [
        "student,recipe,block,head,removed_in,score",
        "s,r,b,0,2,",
        "s,r,b,1,,",
    ]
