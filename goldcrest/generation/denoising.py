"""BART's pre-training task: text in which spans were replaced by masks is to be given whole (text infilling).

Lewis et al. 2020, §2.2: 30 % of the tokens are masked, in spans whose lengths are drawn from a Poisson
distribution of mean 3; each span becomes one <mask>, and spans of length 0 insert one.
"""

from collections.abc import Sequence

import numpy as np

MASKED, SPAN = 0.3, 3.0


def infill(
    tokens: Sequence[int],
    mask: int,
    draw: np.random.Generator,
    share: float = MASKED,
    span: float = SPAN,
) -> list[int]:
    """The tokens of a text, without its ends, with spans of ⌈share · n⌉ of them replaced by `mask` in all."""
    wanted = int(np.ceil(share * len(tokens)))
    lengths: list[int] = []
    while sum(lengths) < wanted:
        lengths.append(min(int(draw.poisson(span)), wanted - sum(lengths)))
    # Spans and single tokens in random order are the text with its spans at random places, none overlapping.
    kept = len(tokens) - wanted
    order = draw.permutation([*range(len(lengths)), *([-1] * kept)])
    noisy: list[int] = []
    place = 0
    for part in order:
        if part < 0:
            noisy.append(tokens[place])
            place += 1
        else:
            noisy.append(mask)
            place += lengths[part]
    return noisy
