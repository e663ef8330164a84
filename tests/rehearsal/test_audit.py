"""The audit finds a time in the wrong cell of a table."""

import csv
import json

import pytest

from weebill.rehearsal.audit import MEASURED, TABLE, misplaced

VARIANTS = {"tiny/unpruned/float32": 8.0, "tiny/unpruned/log4": 5.0}


def written(folder, rows):
    """Write measurements of two variants in two kinds of numbers, and a table."""
    measured = [
        {
            "variant": variant,
            "numbers": numbers,
            "shortlist": False,
            "batch_size": 32,
            "seconds": [first * share] * 3,
        }
        for variant, first in VARIANTS.items()
        for numbers, share in (("float32", 1), ("float16", 0.5), ("bfloat16", 0.4))
    ]
    skipped = [
        {**measured[0], "shortlist": True},
        {**measured[0], "variant": "tiny/steady/float32"},
        {**measured[0], "batch_size": 1},
    ]
    for name in (TABLE, MEASURED):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
    (folder / MEASURED).write_text(json.dumps([*measured, *skipped]))
    with (folder / TABLE).open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return folder


GOOD = [
    {
        "variant": variant,
        "batch": "32",
        "float32_ours": f"{first:.2f}",
        "float16_ours": f"{first / 2:.2f}",
    }
    for variant, first in VARIANTS.items()
]


def test_a_right_table_has_no_faults(tmp_path):
    assert misplaced(tmp_path) == []
    assert misplaced(written(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        # one row per student, with the last variant's numbers
        ([{**GOOD[1], "variant": "tiny"}], ["nothing for tiny/unpruned/float32 in float32"]),
        ([GOOD[0], {**GOOD[1], "float16_ours": GOOD[0]["float16_ours"]}],
         ["4.00 for tiny/unpruned/log4 in float16, batch 32; measured were 2.5 s"]),
        ([*GOOD, GOOD[0]], ["8.00 and 8.00 for tiny/unpruned/float32 in float32"]),
    ],
)  # fmt: skip
def test_a_time_in_another_place_is_named(tmp_path, rows, told):
    found = misplaced(written(tmp_path, rows))
    for one in told:
        assert any(one in fault for fault in found), found
