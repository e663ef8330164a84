"""Depth of a metric: without an encoder's top layers the mix loses their weights too (COMETINHO §4.1)."""

from torch import nn

from goldcrest.errors import InputError
from goldcrest.hugging_face.families import prunable
from goldcrest.metric.network import MetricNetwork
from goldcrest.pruning.depth import cut_layers


def remove_top_layers(network: MetricNetwork, count: int) -> None:
    """Remove the `count` top layers of the encoder in place; the mix's transformation shares out what is left.

    Raises InputError where no layer would be left, or not the one that the metric reads.
    """
    states = network.encoder.config.num_hidden_layers + 1 - count
    layer = network.architecture.layer
    if layer != "mix" and layer >= states:
        raise InputError(f"pruning: the metric reads layer {layer}; {states - 1} would be left")
    cut_layers(prunable(network.encoder), "encoder", count)
    if network.mix is not None:
        network.mix.weights = nn.Parameter(network.mix.weights.detach()[:states].clone())
