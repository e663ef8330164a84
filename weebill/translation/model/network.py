"""Translation network: tied embeddings, a post-norm encoder, an SSRU or attention decoder.

The target's embeddings are also the output layer, and the source's embeddings unless the source has a vocabulary.
Shapes as in `layers`: b sentences, s source positions, t target positions, d embedding width, V target pieces.
"""

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack
from weebill.translation.model.decoder_state import State
from weebill.translation.model.layers import DecoderLayer, Dropout, EncoderLayer
from weebill_runtime.architecture import Architecture

START = -1  # id of the decoder's first input, a zero embedding (Marian's convention)


class Translator(nn.Module):
    """Network of a student or teacher (WNGT20 §3) with the shape of an `Architecture`."""

    def __init__(self, architecture: Architecture, dropout: float = 0.0):
        super().__init__()
        width = architecture.embedding
        self.decoder_depth = architecture.decoder_depth
        self.decoder_kind = architecture.decoder_kind
        self.guided = False  # True if alignments guide the first head of the last cross-attention
        self.embedding = _embedding(architecture.vocabulary, width)
        self.output = nn.Linear(width, architecture.vocabulary, device="meta")
        self.output.weight = self.embedding.weight
        self.output.bias = nn.Parameter(torch.zeros(architecture.vocabulary))
        layers = (EncoderLayer(width, shape, dropout) for shape in architecture.encoder)
        self.encoder = nn.ModuleList(layers)
        kind = architecture.decoder_kind
        layers = (DecoderLayer(width, shape, kind, dropout) for shape in architecture.decoder)
        self.decoder = nn.ModuleList(layers)
        self.dropout = Dropout(dropout)
        source = architecture.source_vocabulary
        self.source_embedding = None if source is None else _embedding(source, width)
        _scale_by_depth(self.encoder, len(architecture.encoder))
        _scale_by_depth(self.decoder, architecture.decoder_depth)

    @property
    def architecture(self) -> Architecture:
        """Network's present shape, read from the layers, so that it is correct after pruning."""
        return Architecture(
            vocabulary=self.embedding.num_embeddings,
            embedding=self.embedding.embedding_dim,
            encoder=tuple(layer.shape for layer in self.encoder),
            decoder=tuple(layer.shape for layer in self.decoder),
            decoder_depth=self.decoder_depth,
            decoder_kind=self.decoder_kind,
            source_vocabulary=self.source_embedding and self.source_embedding.num_embeddings,
        )

    def decoder_layers(self) -> list[DecoderLayer]:
        """List the decoder's layers in the order of their application; tied layers repeat."""
        if len(self.decoder) == self.decoder_depth:
            return list(self.decoder)
        return [self.decoder[0]] * self.decoder_depth

    def embed(
        self, tokens: Tensor, position: int | Tensor = 0, table: nn.Module | None = None
    ) -> Tensor:
        """Return embeddings × sqrt(d) plus sinusoidal positions of tokens (b, positions); START embeds as zero.

        position: position of the first token, or the encodings (positions, d) themselves.
        table: the source's embeddings, for source pieces; by default the target's.
        """
        x = (table or self.embedding)(tokens.clamp(min=0)) * math.sqrt(self.width)
        x = x.masked_fill((tokens == START).unsqueeze(-1), 0.0)
        if not isinstance(position, Tensor):
            position = sinusoids(position, tokens.shape[1], self.width, x.device)
        return self.dropout(x + position.to(x.dtype))

    @property
    def width(self) -> int:
        """Embedding width d."""
        return self.embedding.embedding_dim

    def encode(self, source: Tensor, source_mask: Tensor) -> Tensor:
        """Encode source pieces (b, s), with a mask (b, s) that is True for pieces, into memory (b, s, d)."""
        mask = _attention_mask(source_mask)
        x = self.embed(source, table=self.source_embedding)
        for layer in self.encoder:
            x = layer(x, mask, source_mask)
        return x

    def decode(self, target: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Decode with teacher forcing: decoder inputs (b, t), START first → hidden states (b, t, d)."""
        mask = _attention_mask(source_mask)
        x = self.embed(target)
        for layer in self.decoder_layers():
            x = layer(x, memory, mask)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        """Return scores (…, V) of the next piece from hidden states (…, d)."""
        return self.output(hidden)

    def output_operands(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the output layer's operands, for the sliced loss: hidden states (n, d), weight (V, d), bias (V,)."""
        # Fake quantization changes the operands first.
        operands = getattr(self.output, "operands", None)
        return operands(hidden) if operands else (hidden, self.output.weight, self.output.bias)

    def start(self, memory: Tensor, source_mask: Tensor) -> State:
        """Return the decoder's state before the first step, one row per sentence; `State.select` makes more."""
        count, depth = len(memory), self.decoder_depth
        recurrent = self.decoder_kind == "ssru"
        return State(
            position=0,
            mask=source_mask[:, None, None, :],
            memory=[layer.project_memory(memory) for layer in self.decoder],
            cells=[memory.new_zeros(count, self.width) for _ in range(depth if recurrent else 0)],
            pasts=[None] * (0 if recurrent else depth),
            ancestors=torch.empty(count, 1, 0, dtype=torch.bool, device=memory.device),
        )

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Take one decoding step: last tokens (b·beam,), START at first → logits (b·beam, V) and new state."""
        x = self.embed(tokens[:, None], state.place()).squeeze(1)
        tied = len(self.decoder) < self.decoder_depth
        cells, pasts = [], []
        if self.decoder_kind == "attention":
            state = state.extended()
            visible = state.visible()
        for index, layer in enumerate(self.decoder_layers()):
            if self.decoder_kind == "ssru":
                mixed, cell = layer.recurrence.step(x, state.cells[index])
                cells.append(cell)
            else:
                mixed, past = layer.look_back(x, state.pasts[index], state.ancestors, visible)
                pasts.append(past)
            x = layer.step(x, mixed, state.memory[0 if tied else index], state.mask)
        return self.logits(x), replace(state, position=state.position + 1, cells=cells, pasts=pasts)

    def attention_blocks(self) -> list[AttentionBlock]:
        """List the attention blocks that pruning may score and cut, encoder first."""
        found = [AttentionBlock.of(*named) for named in self._named("attention")]
        if self.guided and found[-1].heads:
            found[-1].protected = frozenset({0})
        return found

    def feed_forward_blocks(self) -> list[FeedForwardBlock]:
        """List the feed-forward blocks that pruning may score and cut, encoder first."""
        return [FeedForwardBlock.of(*named) for named in self._named("feed_forward")]

    def _named(self, ending: str) -> list[tuple[str, nn.Module]]:
        return [(name, one) for name, one in self.named_modules() if name.endswith(ending)]

    def layer_stacks(self) -> list[LayerStack]:
        """List encoder and decoder, whose top layers pruning may cut; a guided decoder loses those below its last."""
        set_depth = partial(setattr, self, "decoder_depth")
        return [
            LayerStack("encoder", self.encoder, len(self.encoder)),
            LayerStack("decoder", self.decoder, self.decoder_depth, set_depth, self.guided),
        ]


class Embedding(nn.Embedding):
    """Embedding that draws no initial weights on `meta`: torch would import its compiler, which takes a second."""

    def reset_parameters(self) -> None:
        """Draw the weights from a normal distribution, except on `meta`."""
        if not self.weight.is_meta:
            super().reset_parameters()


def _embedding(pieces: int, width: int) -> Embedding:
    """Make a table of embeddings with Glorot-uniform weights."""
    table = Embedding(pieces, width)
    nn.init.xavier_uniform_(table.weight)
    return table


def _scale_by_depth(layers: nn.ModuleList, depth: int) -> None:
    """Multiply the initial weights of a stack of `depth` layers by depth^−½.

    This is a variant of depth scaling: Zhang et al. 2019 and Marian scale layer l by l^−½, but a tied layer has
    several l.  Without scaling, post-norm stacks hardly learn at first: after 1,000 updates on the demo's text, a
    student of six encoder layers has 23 BLEU with it, and less than 1 without.
    """
    with torch.no_grad():
        for module in layers.modules():
            if isinstance(module, nn.Linear):
                module.weight.mul_(depth**-0.5)


def _attention_mask(mask: Tensor) -> Tensor | None:
    """Reshape a mask (b, s) → (b, 1, 1, s); return None, which is faster, on a CPU if every position is real."""
    full = mask.device.type == "cpu" and bool(mask.all())
    return None if full else mask[:, None, None, :]


_TABLES: dict[tuple[int, int, torch.device], Tensor] = {}  # kept for recorded CUDA graphs


def sinusoids(first: int, count: int, width: int, device: torch.device) -> Tensor:
    """Return positional encodings (count, width) from position `first`: first half sines, second half cosines."""
    size = max(256, 2 ** (first + count - 1).bit_length())
    table = _TABLES.get((size, width, device))
    if table is None:
        half = width // 2
        rates = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
        angles = torch.arange(size)[:, None] * rates[None, :]
        table = torch.cat([angles.sin(), angles.cos()], dim=1).to(device)
        table = _TABLES.setdefault((size, width, device), table)  # another thread may make one too
    return table[first : first + count]
