"""How large a metric is, and how much each state of its encoder counts in a sentence's vector."""

from dataclasses import dataclass

from weebill.evaluation.record import Record
from weebill.metric.folder import Metric


@dataclass(frozen=True)
class MetricSize(Record):
    """Of a model: parameters, bytes of its weights' file, and the shares of the encoder's states.

    state_weights: of the embeddings and each layer, largest 1 (COMETINHO figure 4).
    """

    metric: str
    parameters: int
    bytes: int
    layers: int
    state_weights: list[float]
    model_sha256: str


def measure_size(name: str, metric: Metric) -> MetricSize:
    """Of a loaded metric."""
    network = metric.network
    weights = network.state_weights().detach()
    return MetricSize(
        name,
        sum(one.numel() for one in network.parameters()),
        metric.file.stat().st_size,
        network.encoder.config.num_hidden_layers,
        (weights / weights.max()).tolist(),
        metric.sha256,
    )
