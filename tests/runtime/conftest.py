"""Small networks of all kinds and precisions for the tests of the runtime."""

from collections.abc import Sequence

import torch

from weebill.kernels.extension import available
from weebill.quantization.calibration import mean_of_maxima, record_ranges
from weebill.quantization.grids import grid_named
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.translation.model.network import Translator
from weebill.translation.search import greedy
from weebill_runtime.architecture import Architecture, LayerShape
from weebill_runtime.options import SearchOptions

PIECES = 300
# On processors without a matrix unit, `amx` stores its tiles in memory, so it can be tested.
ISAS = list(dict.fromkeys([*available(), *(["amx"] if "vnni" in available() else [])]))
SHAPES = {
    "ssru": {},
    "ssru, untied": {"tied": False},
    "ssru, heads of 24": {"head": 24},
    "ssru, heads of 8": {"head": 8},
    "ssru, pruned": {"heads": (4, 0, 1), "inner": (96, 37, 0)},
    "ssru, nearly nothing left": {"heads": (0, 1, 0), "inner": (1, 3, 0)},
    "ssru, no memory": {"cross": 0},
    "attention": {"kind": "attention"},
    "attention, untied": {"kind": "attention", "tied": False},
    "ssru, two vocabularies": {"source_pieces": PIECES + 20},
    "attention, two vocabularies": {"kind": "attention", "source_pieces": PIECES + 20},
    "attention, no heads": {"kind": "attention", "own": 0},
}


def network(
    kind="ssru",
    tied=True,
    head=16,
    heads=(4, 4, 4),
    inner=(96, 96, 96),
    cross=4,
    own=4,
    width=64,
    pieces=PIECES,
    source_pieces=None,
) -> Translator:
    """Make a random network with three encoder and two decoder layers; some of its translations end early."""
    torch.manual_seed(7)
    decoder = LayerShape(cross, head, 80, own if kind == "attention" else 0)
    model = Translator(
        Architecture(
            vocabulary=pieces,
            embedding=width,
            encoder=tuple(LayerShape(h, head, f) for h, f in zip(heads, inner, strict=True)),
            decoder=(decoder,) * (1 if tied else 2),
            decoder_depth=2,
            decoder_kind=kind,
            source_vocabulary=source_pieces,
        )
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(0.2 * torch.randn_like(parameter))
        model.embedding.weight.mul_(3)
        if source_pieces:
            model.source_embedding.weight.mul_(3)
    return model.eval()


def sources(count=21) -> list[list[int]]:
    """Return sentences of 0 to 27 pieces, each followed by the end."""
    draw = torch.Generator().manual_seed(3)
    lengths = torch.randint(0, 28, (count,), generator=draw).tolist()
    return [[*torch.randint(2, PIECES, (n,), generator=draw).tolist(), 0] for n in lengths]


def quantized(
    model: Translator, grid: str, skip: Sequence[str] = (), texts: list[list[int]] | None = None
) -> Translator:
    """Put the network on a grid; int8 gets activation scales from the tests' sentences."""
    texts = sources(9) if texts is None else texts
    if not grid_named(grid).integer:
        return quantize_model(model, grid)
    ranges = record_ranges(model, lambda: greedy([model], texts, SearchOptions(length_factor=0.5)))
    chosen = {name for name, _ in quantizable_linears(model, skip)}
    scales = {name: mean_of_maxima(ranges[name]) or 1.0 for name in chosen}
    return quantize_model(model, grid, scales, skip)
