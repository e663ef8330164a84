"""Grid `log4`: four bits on a logarithmic scale, two codes to a byte."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from weebill.quantization.grids import Finetuning
from weebill.quantization.grids.listed import ListedGrid
from weebill.settings import Amount, Follows, section

if TYPE_CHECKING:
    from torch import Tensor

OCTAVES = 8


@section
class LogFinetuning(Finetuning):
    """Continued training with logarithmic weights."""

    warmup: Annotated[Amount, Follows("updates", 6)] = 32_000
    """Updates of the warm-up: twice those of `int8`, which WMT21 found better."""


@section
class LogGrid:
    """Settings of the 4-bit logarithmic grid."""

    compare_biases: bool = False
    """`true` also makes the precision `log4-biases`, without fine-tuning, whose biases are rounded too. WNGT20 §5.2
    leaves them alone: they quantize poorly, and there are few of them."""
    finetune: LogFinetuning | None = None
    """Fine-tuning, which makes the precision `log4-finetuned`."""


class Log4(ListedGrid):
    """Sixteen numbers ±S·2^k, k = −7…0, with one S per tensor (WNGT20 §5.2, Aji & Heafield 2020).

    A number goes to the nearest of them, so between S·2^k and S·2^(k+1) the border is 1.5·S·2^k.
    A code's lowest three bits are k + 7, the fourth is the sign; there is no zero.
    """

    name = "log4"
    settings = LogGrid
    finetuning = LogFinetuning
    sentence = "Precision `log4`, with 4-bit logarithmic weights."
    bytes_per_weight = 0.6
    numbers = tuple(sign * 2.0**k for sign in (1, -1) for k in range(1 - OCTAVES, 1))

    def fit(self, x: "Tensor") -> "Tensor":
        """Fit S from max|x| by S ← Σ a·|x| / Σ a², a = |rounded x| / S, until no number changes its code."""
        import numpy as np
        import torch

        if x.is_cuda:
            with suppress(ImportError):  # Triton is installed with PyTorch for CUDA
                from weebill.quantization.log4_kernel import log4_scale

                return log4_scale(x)
        magnitudes = np.sort(x.detach().abs().to("cpu", torch.float32).flatten().numpy())
        prefix = np.concatenate([[0.0], np.cumsum(magnitudes, dtype=np.float64)])
        powers = np.exp2(np.arange(1 - OCTAVES, 1.0))  # a: 2^-7 … 1
        borders, rises, steps = 1.5 * powers[:-1], np.diff(powers), np.diff(powers**2)
        scale, before = float(magnitudes[-1]), b""
        while scale > 0:
            cuts = magnitudes.searchsorted((scale * borders).astype(np.float32))
            if cuts.tobytes() == before:
                break
            before = cuts.tobytes()
            # All numbers have a = 1 but those below a cut, whose a is less by the rise there.
            total = prefix[-1] - rises @ prefix[cuts]
            scale = float(total / (magnitudes.size - steps @ cuts))
        return torch.tensor(scale, dtype=torch.float32, device=x.device)

    def encode(self, x: "Tensor", scale: "Tensor") -> "Tensor":
        import torch

        border = torch.where(scale > 0, 1.5 * scale, 1.0)
        ratio = (x.abs().float() / border).clamp_(2.0**-OCTAVES, 0.5)
        octave = (ratio.view(torch.int32) >> 23) - (127 - OCTAVES)  # the exponent bits: k + 7
        return octave.bitwise_or_((x < 0).to(torch.int32) << 3).to(torch.int8)
