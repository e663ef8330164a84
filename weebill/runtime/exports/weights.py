"""Float32 networks of students on a grid, for export."""

import torch

from weebill.translation.model.network import Translator


@torch.no_grad()
def in_float32(network: Translator) -> Translator:
    """Return a network of plain layers with the decoded weights; its activations are not rounded."""
    plain = Translator(network.architecture)
    for name, parameter in plain.named_parameters():
        module, attribute = name.rsplit(".", 1)
        parameter.copy_(getattr(network.get_submodule(module), attribute))
    return plain.eval()
