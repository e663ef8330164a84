"""Small models for the tests: a toy family, unlike translation, with a study; and a student."""

from contextlib import nullcontext
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from weebill.files import atomic_path
from weebill.pruning.cut import cut
from weebill.pruning.structure import AttentionBlock, FeedForwardBlock, LayerStack
from weebill.translation.model.network import Translator
from weebill_runtime.architecture import Architecture

WIDTH, HEADS, HEAD_SIZE, NEURONS, LAYERS = 8, 4, 3, 10, 3
RATE = 0.003  # learning rate of the toy study


class ToyLayer(nn.Module):
    """Explicit attention with another width than the model's, followed by tanh neurons."""

    def __init__(self):
        super().__init__()
        self.count = HEADS
        self.q, self.k, self.v = (nn.Linear(WIDTH, HEADS * HEAD_SIZE) for _ in range(3))
        self.o = nn.Linear(HEADS * HEAD_SIZE, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, NEURONS), nn.Linear(NEURONS, WIDTH)
        self.recorder = None

    def forward(self, x, mask):
        mixed = x.new_zeros(*x.shape[:2], 0)
        if self.count:
            q, k, v = (
                part(x).unflatten(-1, (self.count, HEAD_SIZE)).transpose(1, 2)
                for part in (self.q, self.k, self.v)
            )
            scores = q @ k.transpose(-1, -2)
            weights = scores.masked_fill(~mask[:, None, None, :], -torch.inf).softmax(-1)
            if self.recorder is not None:
                self.recorder(weights, mask)
            mixed = (weights @ v).transpose(1, 2).flatten(2)
        x = x + self.o(mixed)
        return x + self.down(self.up(x).tanh())


class Toy(nn.Module):
    """Stack of toy layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(ToyLayer() for _ in range(LAYERS))

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def attention_blocks(self):
        return [
            AttentionBlock(
                f"encoder.{i}.attention",
                layer.q,
                layer.k,
                layer.v,
                layer.o,
                heads=layer.count,
                head_size=HEAD_SIZE,
                set_shape=lambda heads, layer=layer: setattr(layer, "count", heads),
                set_recorder=lambda recorder, layer=layer: setattr(layer, "recorder", recorder),
            )
            for i, layer in enumerate(self.layers)
        ]

    def feed_forward_blocks(self):
        return [
            FeedForwardBlock(f"encoder.{i}.neurons", layer.up, layer.down)
            for i, layer in enumerate(self.layers)
        ]

    def layer_stacks(self):
        return [LayerStack("encoder", self.layers, len(self.layers))]


def toy(seed: int = 1) -> Toy:
    """Make a toy model whose heads attend to different positions, so that their scores differ clearly."""
    torch.manual_seed(seed)
    model = Toy()
    with torch.no_grad():
        for layer in model.layers:
            layer.q.weight.mul_(4.0)
    return model


def toy_batch(seed: int, rows: int = 5, positions: int = 7):
    """Return inputs (rows, positions, WIDTH) and the mask of real positions; some rows are shorter."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, positions, WIDTH, generator=generator)
    lengths = torch.randint(2, positions + 1, (rows,), generator=generator)
    return x, torch.arange(positions)[None, :] < lengths[:, None]


def outputs(model: Toy) -> torch.Tensor:
    """Return the outputs for one batch."""
    with torch.no_grad():
        return model(*toy_batch(7))


def small_translator(decoder: str) -> Translator:
    """Make a small translation network; its biases and norms differ from a new network's."""
    torch.manual_seed(7)
    entry = {"embedding": 16, "feed_forward": 24, "heads": 4, "attention_width": 20}
    layers = {"encoder_layers": 2, "decoder_layers": 2, "decoder_tied": decoder == "ssru"}
    architecture = Architecture.from_zoo({**entry, **layers, "decoder": decoder, "vocabulary": 50})
    network = Translator(architecture).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return network


class ToyStudy:
    """Study that trains the toy to sum the inputs before each position; checkpoints every 3 updates.

    The state is only the weights and a companion's state (plain gradient descent).  tick: called at each update.
    """

    convergence = 8

    def __init__(self, tick=lambda: None):
        self.tick, self.seed = tick, 1

    def identity(self):
        return {"seed": 1}

    def checkpoint(self, updates: int) -> Toy:
        model = toy()
        for update in range(1, updates + 1):
            self._update(model, update)
        return model

    def untrained(self) -> Toy:
        """Return a toy with another seed; its first layer lacks the last neuron, as if pruned."""
        model = toy(seed=2)
        cut(model, neurons={"encoder.0.neurons": [NEURONS - 1]})
        return model

    def train(
        self, model: Toy, *, start_update: int, updates: int | None, work: Path, companion=None
    ) -> None:
        work.mkdir(parents=True, exist_ok=True)
        accompanied = companion and companion.companion(model)
        trained = nn.ModuleDict(
            {"model": model} | ({"companion": accompanied} if companion else {})
        )
        saved = {int(path.stem): path for path in work.glob("[0-9]*.safetensors")}
        done = max(saved, default=0)
        if done:
            trained.load_state_dict(load_file(saved[done]))
        with accompanied.attached() if companion else nullcontext():
            for update in range(done + 1, (updates or self.convergence) + 1):
                self.tick()
                if companion:
                    accompanied.before_update(update)
                self._update(model, start_update + update, accompanied)
                if update % 3 == 0:
                    with atomic_path(work / f"{update}.safetensors") as partial:
                        save_file(trained.state_dict(), partial)
        if companion:
            accompanied.finish()

    def observe(self, model: Toy) -> None:
        with torch.no_grad():
            for seed in (101, 102):
                model(*toy_batch(seed))

    def gradients(self, model: Toy):
        for seed in (201, 202, 203):
            model.zero_grad()
            self.loss(model, *toy_batch(seed)).backward()
            yield
        model.zero_grad()

    @staticmethod
    def loss(model: Toy, x, mask):
        """Return the mean squared error over the real positions."""
        return (model(x, mask) - x.cumsum(1))[mask].pow(2).mean()

    @classmethod
    def _update(cls, model: Toy, update: int, companion=None) -> None:
        loss = cls.loss(model, *toy_batch(update))
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        rates = [RATE] * len(parameters)
        if companion is not None:
            own, penalty = list(companion.parameters()), companion.penalty()
            parameters, rates = parameters + own, rates + [companion.rate or RATE] * len(own)
            loss = loss if penalty is None else loss + penalty
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient, rate in zip(parameters, gradients, rates, strict=True):
                parameter.sub_(gradient, alpha=rate)
