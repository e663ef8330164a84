"""The house style: same colour for the same thing in all figures, and colours that colour-blind readers can see."""

from itertools import combinations

import pytest

from weebill.experiment.precisions import GRIDS
from weebill.report.figures import colors, style

RECIPES = {
    "steady": {"method": "late-reset", "criterion": "confidence"},
    "pushy": {"method": "late-reset", "criterion": "confidence"},
    "top": {"method": "depth", "layers": 1},
}
# Machado et al. (2009), severity 1: linear RGB as seen without red, green or blue cones.
SIGHT = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def seen(color: str, sight) -> list[float]:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in channels]
    return [sum(w * c for w, c in zip(row, linear, strict=True)) for row in sight]


@pytest.mark.parametrize("sight", SIGHT)
def test_colour_blind_readers_tell_the_first_five_colours_apart(sight):
    for one, other in combinations(style.PALETTE[:5], 2):
        pair = seen(one, SIGHT[sight]), seen(other, SIGHT[sight])
        assert max(abs(a - b) for a, b in zip(*pair, strict=True)) > 0.08, (one, other)


def test_a_method_has_its_colour_whatever_else_is_shown():
    config = {"pruning": RECIPES}
    label = colors.method_of(config, "top")
    both = colors.method_colors(config, [colors.method_of(config, name) for name in RECIPES])
    alone = colors.method_colors(config, [label, colors.UNPRUNED])
    known = dict(zip(both.domain, both.range, strict=True))
    assert dict(zip(alone.domain, alone.range, strict=True)) == {
        colors.UNPRUNED: style.NEUTRAL,
        label: known[label],
    }
    assert colors.method_of(config, "beam-4") == colors.UNPRUNED


def test_every_grid_has_a_colour_and_a_shape():
    for scale in (colors.number_colors(GRIDS), colors.number_shapes(GRIDS)):
        assert set(scale.domain) == set(GRIDS) and len(set(scale.range)) == len(GRIDS)
    assert colors.number_colors(["int8-finetuned", "float32"]).domain == ["float32", "int8"]
