"""Size of a metric, and the share of each encoder state in a sentence's vector."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weebill.files import MIB

if TYPE_CHECKING:  # tables read sizes without PyTorch
    from weebill.metric.folder import Metric


@dataclass(frozen=True)
class MetricSize:
    """Size of a metric, and the shares of its encoder's states."""

    metric: str
    parameters: int
    bytes: int  # of the weight file
    layers: int
    state_weights: list[float]  # embeddings and each layer; the largest is 1 (COMETINHO figure 4)
    model_sha256: str

    @property
    def mib(self) -> float:
        """MiB of the parameters on disk."""
        return self.bytes / MIB


def measure_size(name: str, metric: "Metric") -> MetricSize:
    """Measure the size of a loaded metric."""
    from weebill.metric.network import count_numbers

    network = metric.network
    weights = network.state_weights().detach()
    return MetricSize(
        name,
        count_numbers(network),
        metric.file.stat().st_size,
        network.encoder.config.num_hidden_layers,
        (weights / weights.max()).tolist(),
        metric.sha256,
    )
