"""Engines that compute a student's outputs: the compiled extension, or PyTorch where it cannot be built.

Both translate a batch greedily.  To `translation.search` they are networks whose pieces are the columns chosen
last: ascending pieces, EOS and UNK first, as in the whole vocabulary.
"""

import copy
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from weebill.errors import InputError
from weebill.kernels.extension import PORTABLE, array, extension, has_bfloat16
from weebill.quantization.modules import QuantizedLinear
from weebill.runtime.student import VECTOR, Packer
from weebill.translation.model.batch import pad
from weebill.translation.model.network import START, State, Translator, sinusoids
from weebill.translation.search import prepack
from weebill.translation.search.ensemble import Ensemble
from weebill.translation.search.run import greedy_batch

Sources = Sequence[Sequence[int]]
Translations = list[list[int]]


class Engine(Protocol):
    """Interface of engines; shapes: b sentences, rows of a search over them, n columns."""

    def reserve(self, positions: int) -> None:
        """Prepare for sources and translations of up to `positions` pieces, ends included."""

    def choose(self, columns: np.ndarray) -> None:
        """Set the pieces (n,) that outputs may be from now on."""

    def greedy(self, sources: Sources, limits: Sequence[int], allow_unknown: bool) -> Translations:
        """Translate greedily; return each translation's pieces without its end, at most its limit with it."""

    # The same interface as that of `translation.model.network.Translator`, with columns in place of pieces.
    def encode(self, source: Tensor, mask: Tensor) -> object: ...
    def start(self, memory: object, mask: Tensor) -> object: ...
    def step(self, tokens: Tensor, state: object) -> tuple[Tensor, object]: ...


def engine_for(network: Translator, isa: str, precision: str = "float32") -> Engine:
    """Make the engine of an instruction set, or `portable`.  Raises InputError if it cannot hold the network."""
    if isa == PORTABLE:
        return PortableEngine(network, precision)
    return CompiledEngine(network, isa, precision)


def fits_extension(network: Translator) -> bool:
    """Return True if the extension can hold a network: whole vectors, weights all of one kind."""
    if network.width % VECTOR:
        return False
    return not _is_integer(network) or all(
        isinstance(module, QuantizedLinear)
        for module in network.modules()
        if isinstance(module, nn.Linear | QuantizedLinear) and module.weight.numel()
    )


class CompiledEngine:
    """Engine of the C++ extension, which holds the sources and the state of a search until its end."""

    def __init__(self, network: Translator, isa: str, precision: str = "float32"):
        if network.width % VECTOR:
            raise InputError(
                f"the runtime wants an embedding width that is a multiple of {VECTOR}, "
                f"this student's is {network.width}; use its portable path"
            )
        numbers = "int8" if _is_integer(network) else precision
        if numbers == "bfloat16" and not has_bfloat16(isa):
            raise InputError(
                f"the runtime's instruction set '{isa}' has no products in bfloat16 on this processor; "
                "use float32, or its portable path"
            )
        kind = getattr(extension(isa), f"{numbers.capitalize()}Student")
        self.student = kind(_arrays(Packer(numbers).network(network)))
        self.width = network.width
        self._room = 0

    def reserve(self, positions: int) -> None:
        if positions > self._room:
            table = sinusoids(0, positions, self.width, torch.device("cpu"))
            self.student.positions(array(table))
            self._room = positions

    def choose(self, columns: np.ndarray) -> None:
        pieces = columns.astype(np.int32)
        self._columns = torch.from_numpy(pieces)
        self.student.choose(pieces)

    def greedy(self, sources: Sources, limits: Sequence[int], allow_unknown: bool) -> Translations:
        pieces = [piece for source in sources for piece in source]
        return self.student.translate(pieces, list(map(len, sources)), limits, allow_unknown)

    def encode(self, source: Tensor, mask: Tensor) -> None:
        self.student.start(source[mask].tolist(), mask.sum(1).tolist())

    def start(self, memory: None, mask: Tensor) -> "_Rows":
        return _Rows(self.student, len(mask), len(mask))

    def step(self, tokens: Tensor, state: "_Rows") -> tuple[Tensor, "_Rows"]:
        outputs = self.student.step(_pieces(self._columns, tokens).tolist())
        return torch.from_numpy(outputs), state


class _Rows:
    """Handle of the search that the extension holds, with its numbers of rows and sentences."""

    def __init__(self, student: object, rows: int, sentences: int):
        self.student, self.rows, self.sentences = student, rows, sentences

    def select(self, rows: Tensor) -> "_Rows":
        """Let new row i continue old row rows[i] of the same sentence."""
        self.student.select(rows.tolist())
        return _Rows(self.student, len(rows), self.sentences)

    def keep(self, sentences: Tensor) -> "_Rows":
        """Keep only these sentences, with all their rows."""
        each = self.rows // self.sentences
        self.select((sentences[:, None] * each + torch.arange(each)).flatten())
        return _Rows(self.student, each * len(sentences), len(sentences))


class PortableEngine:
    """Engine of PyTorch, with linear layers packed for oneDNN and torch's integer products; the other's reference."""

    def __init__(self, network: Translator, precision: str = "float32"):
        self.network = copy.deepcopy(network)
        prepack(self.network, precision)
        self.output = self.network.output
        self.encode, self.start = self.network.encode, self.network.start
        self.device = network.output.bias.device

    def reserve(self, positions: int) -> None:
        """Do nothing: the network makes room by itself."""

    def choose(self, columns: np.ndarray) -> None:
        self._columns = torch.from_numpy(columns).long().to(self.device)
        every = len(columns) == self.network.embedding.num_embeddings
        self.network.output = self.output if every else _some_outputs(self.output, self._columns)

    def greedy(self, sources: Sources, limits: Sequence[int], allow_unknown: bool) -> Translations:
        source, mask = (tensor.to(self.device) for tensor in pad(sources))
        with torch.inference_mode():
            found = greedy_batch(
                Ensemble([self]), source, mask, torch.tensor(limits).to(self.device), allow_unknown
            )
        columns = self._columns.cpu()
        return [columns[tokens].tolist() for tokens in found]

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        return self.network.step(_pieces(self._columns, tokens), state)


def _arrays(packed: object) -> object:
    """Return what a `Packer` made with its tensors as arrays."""
    if isinstance(packed, dict):
        return {name: _arrays(part) for name, part in packed.items()}
    if isinstance(packed, list):
        return list(map(_arrays, packed))
    return array(packed) if isinstance(packed, Tensor) else packed


def _pieces(columns: Tensor, tokens: Tensor) -> Tensor:
    """Return the pieces of some columns; START stays."""
    return torch.where(tokens == START, START, columns[tokens.clamp(min=0)])


def _some_outputs(output: nn.Linear | QuantizedLinear, rows: Tensor) -> nn.Module:
    bias = nn.Parameter(output.bias[rows], requires_grad=False)
    if isinstance(output, QuantizedLinear):
        return QuantizedLinear(output.quantized.select(rows), bias, output.activation_scale)
    layer = nn.utils.skip_init(nn.Linear, output.in_features, len(rows))
    layer.weight, layer.bias = nn.Parameter(output.weight[rows], requires_grad=False), bias
    return layer


def _is_integer(network: Translator) -> bool:
    """Return True if weights and activations are on an integer grid, so that products run on codes."""
    return getattr(network.output, "activation_scale", None) is not None
