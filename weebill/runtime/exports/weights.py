"""The float32 network that a student on a grid leaves as."""

import torch

from weebill.translation.model.network import Translator


@torch.no_grad()
def in_float32(network: Translator) -> Translator:
    """A network of plain layers with the numbers that the weights stand for; its activations are not rounded."""
    plain = Translator(network.architecture)
    for name, parameter in plain.named_parameters():
        module, attribute = name.rsplit(".", 1)
        parameter.copy_(getattr(network.get_submodule(module), attribute))
    return plain.eval()
