"""A small model outside the library's families, with everything that the swap must handle."""

import torch
from torch import Tensor, nn

WORDS, WIDTH = 23, 12


class Toy(nn.Module):
    """Model with tied embedding and output, a layer used twice, an empty map, and a LayerNorm."""

    def __init__(self, seed: int = 0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.Linear(WIDTH, WIDTH)
        self.plain = nn.Linear(WIDTH, WIDTH, bias=False)
        self.again = nn.ModuleDict({"same": self.layer})
        self.norm = nn.LayerNorm(WIDTH)
        self.empty = nn.Linear(WIDTH, 4)
        self.empty.weight = nn.Parameter(torch.zeros(0, WIDTH))
        self.output = nn.Linear(WIDTH, WORDS)
        self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        x = torch.relu(self.layer(x))
        x = self.norm(self.plain(x) + self.again["same"](x))
        return self.output(x)


LINEARS = ["layer", "plain", "output"]
TOKENS = torch.tensor([[1, 5, 22], [0, 7, 7]])
