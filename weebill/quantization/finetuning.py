"""Fine-tuning under quantization (WNGT20 §5, WMT21 §3.4).

The network computes with weights, and for int8 activations, on the grid; gradients pass straight through.
Exponential smoothing must be off: an average of models is not on the grid.

Log 4-bit training is described as keeping each quantization error as a residual that is added at the next
update (Aji & Heafield 2020):

    w₀ = Q(m₀), r₀ = m₀ − w₀          after a step Δ_t:  v = w_t + r_t + Δ_t,  w_{t+1} = Q(v),  r_{t+1} = v − w_{t+1}

That is a master weight in two parts.  Let m_t = w_t + r_t.  Then m_{t+1} = w_{t+1} + r_{t+1} = v = m_t + Δ_t and
w_t = Q(m_t): the optimizer moves a float master, and the network sees it rounded.  Δ_t is the same in both
forms, since it depends on the gradients at w_t alone (Adam; weight decay would shrink w in the one and m in
the other, and is not used).  So `FakeWeight` keeps m and computes Q(m) whenever m has changed, for every
grid.

S, like the 8-bit scale, belongs to Q: it is fitted to m anew at every update, from max|m| to convergence.  That
costs a sort (about 10 ms for 2 million weights) and makes Q(m) a function of m alone, so that a run resumed
from a checkpoint of m continues exactly.
"""

from collections.abc import Callable, Mapping, Sequence

from torch import nn

from weebill.quantization.modules import quantize_model


def fake_quantization(
    grid: str, scales: Mapping[str, float] | None = None, skip: Sequence[str] = ()
) -> Callable[[nn.Module], None]:
    """Return the `transform` that a training applies to its network first; `pack_model` makes codes of the result.

    scales: activation scales by linear map, None to leave activations float32 (log 4-bit).
    """

    def transform(network: nn.Module) -> None:
        quantize_model(network, grid, scales, skip, mode="fake")

    return transform
