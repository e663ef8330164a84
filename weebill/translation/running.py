"""Preparation of networks for translation: their device, and the precision in which they run there."""

from dataclasses import replace
from typing import TypeVar

import torch
from torch import nn

from weebill.kernels.cuda import avoid_slow_attention
from weebill.translation.search import fastest_precision, prepack
from weebill_runtime.options import SearchOptions

Network = TypeVar("Network", bound=nn.Module)


def ready(network: Network, device: str, precision: str = "float32") -> Network:
    """Move a network to a device and set its precision; return it.

    On "cpu", `search.prepack` packs linear layers for products in float32 or bfloat16.  Another device, a GPU, holds
    and multiplies all numbers in float32, float16 or bfloat16, except a grid's codes and their scales.
    """
    network = network.to(device)
    if device == "cpu":
        prepack(network, precision)
        return network
    return cast(network, precision)


def precision_on(device: str, wanted: str) -> str:
    """Return the precision `wanted`, or the device's fastest one if it is "auto"."""
    return fastest_precision(device) if wanted == "auto" else wanted


def options_on(device: str, options: SearchOptions) -> SearchOptions:
    """Return the options of a search for a device; a GPU chooses its own batch sizes."""
    return options if device == "cpu" else replace(options, batch_size=None)


def cast(network: Network, precision: str) -> Network:
    """Cast the floating-point numbers of a network in place, as GPUs run it; return it.

    precision: float32, float16 or bfloat16.  The codes of a grid, and their scales in float32, stay as they are.
    """
    avoid_slow_attention()
    return network.to(getattr(torch, precision))
