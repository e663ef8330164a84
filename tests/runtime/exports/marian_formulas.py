"""Marian's transformer in numpy (float64), written from Marian's sources, with the names used there.

Sources: models/transformer.h (layers, masks, positions), rnn/cells.h (SSRU), data and options of the model file.
"""

import struct

import numpy as np
import torch
import yaml

from tests.runtime.exports.students import texts
from weebill.translation.model.network import START


class MarianFormulas:
    """A .npz model, computed as in Marian: greedy search of one sentence, or scores of a given translation."""

    def __init__(self, path):
        self.arrays = self.read(path)
        text = self.arrays.pop("special:model.yml")
        assert text.dtype == np.int8 and text[-1] == 0
        self.options = yaml.safe_load(text[:-1].tobytes())
        self.heads = self.options["transformer-heads"]
        self.asked = {"special:model.yml"}

    def read(self, path):
        """Return all tensors of a .npz file."""
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)

    def param(self, name, *shape):
        """Return graph->param: the tensor, which must have the shape that follows from the options."""
        array = self.arrays[name]
        assert array.shape == shape and array.dtype == np.float32, name
        self.asked.add(name)
        return array.astype(np.float64)

    def scores(self, source, target):
        """Return the logits (t, V) after the empty beginning and after each piece of `target`."""
        memory = self.encode(source)
        depth, tied = self.options["dec-depth"], self.options["transformer-tied-layers"]
        x = self.embed([None, *target], "decoder")
        for index in range(depth):
            name = f"decoder_l{tied[index] if tied else index + 1}"
            if self.options["transformer-decoder-autoreg"] == "rnn":
                x = self.norm(x + self.ssru(x, f"{name}_rnn"), f"{name}_rnn_ffn")
            else:
                x = self.attend(x, x, f"{name}_self", causal=True)
            x = self.attend(x, memory, f"{name}_context")
            x = self.feed_forward(x, f"{name}_ffn")
        bias = self.param("decoder_ff_logit_out_b", 1, self.size)
        return self.output(x, self.table("decoder"), self.size, self.width) + bias

    def product(self, x, weight, inputs, outputs):
        """Return the product with a matrix (in, out)."""
        return x @ self.param(weight, inputs, outputs)

    def output(self, x, table, pieces, width):
        """Return the product with a table (pieces, width)."""
        return x @ self.param(table, pieces, width).T

    def encode(self, source):
        x = self.embed(source, "encoder")
        for number in range(1, self.options["enc-depth"] + 1):
            x = self.attend(x, x, f"encoder_l{number}_self")
            x = self.feed_forward(x, f"encoder_l{number}_ffn")
        return x

    @property
    def width(self):
        return self.options["dim-emb"]

    @property
    def size(self):
        return self.options["dim-vocabs"][1]

    def table(self, side):
        """Return the name of a side's embeddings, as in encoder.h, decoder.h and transformer.h (output layer)."""
        if self.options["tied-embeddings-all"] or self.options["tied-embeddings-src"]:
            return "Wemb"
        assert self.options["tied-embeddings"]
        return f"{side}_Wemb"

    def embed(self, pieces, side):
        size = self.options["dim-vocabs"][side == "decoder"]
        table = self.param(self.table(side), size, self.width)
        x = np.stack([np.zeros(self.width) if p is None else table[p] for p in pieces])
        half = self.width // 2
        rates = np.exp(np.arange(half) * -np.log(10000.0) / (half - 1))
        angles = np.arange(len(pieces))[:, None] * rates
        return x * np.sqrt(self.width) + np.concatenate([np.sin(angles), np.cos(angles)], 1)

    def affine(self, x, weight, bias, inputs, outputs):
        return self.product(x, weight, inputs, outputs) + self.param(bias, 1, outputs)

    def attend(self, x, memory, name, causal=False):
        d = self.width
        q, k, v = (
            self.affine(y, f"{name}_W{letter}", f"{name}_b{letter}", d, d)
            .reshape(len(y), self.heads, -1)
            .transpose(1, 0, 2)
            for y, letter in ((x, "q"), (memory, "k"), (memory, "v"))
        )
        z = q @ k.transpose(0, 2, 1) / np.sqrt(k.shape[-1])
        if causal:
            z = z - 99999999.0 * (1 - np.tril(np.ones(z.shape[1:])))
        weights = np.exp(z - z.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        joined = (weights @ v).transpose(1, 0, 2).reshape(len(x), d)
        return self.norm(x + self.affine(joined, f"{name}_Wo", f"{name}_bo", d, d), f"{name}_Wo")

    def ssru(self, x, name):
        d = self.width
        forget = 1 / (1 + np.exp(-self.affine(x, f"{name}_Wf", f"{name}_bf", d, d)))
        candidate = self.product(x, f"{name}_W", d, d)
        cell, outputs = np.zeros(d), []
        for f, c in zip(forget, candidate, strict=True):
            cell = f * cell + (1 - f) * c
            outputs.append(np.maximum(cell, 0))
        return np.stack(outputs)

    def feed_forward(self, x, name):
        d, inner = self.width, self.options["transformer-dim-ffn"]
        hidden = np.maximum(self.affine(x, f"{name}_W1", f"{name}_b1", d, inner), 0)
        y = self.affine(hidden, f"{name}_W2", f"{name}_b2", inner, d)
        return self.norm(x + y, f"{name}_ffn")

    def norm(self, x, name):
        scale = self.param(f"{name}_ln_scale", 1, self.width)
        bias = self.param(f"{name}_ln_bias", 1, self.width)
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale + bias


class FirefoxFormulas(MarianFormulas):
    """A student for Firefox, computed as its engine does: integer products, with a fixed scale for each input.

    Sources: common/binary.cpp, tensors/cpu/integer_common.h and intgemm_interface.h of browsermt's Marian.
    """

    def read(self, path):
        blob = path.read_bytes()
        version, count = struct.unpack_from("<QQ", blob)
        assert version == 1
        heads = [struct.unpack_from("<QQQQ", blob, 16 + 32 * item) for item in range(count)]
        place, names, found = 16 + 32 * count, [], {}
        for length, *_ in heads:
            names.append(blob[place : place + length - 1].decode())
            assert blob[place + length - 1] == 0
            place += length
        shapes = []
        for _, _, dimensions, _ in heads:
            shapes.append(struct.unpack_from(f"<{dimensions}i", blob, place))
            place += 4 * dimensions
        place += 8 + struct.unpack_from("<Q", blob, place)[0]
        self.multipliers = {}
        for name, shape, (_, kind, _, size) in zip(names, shapes, heads, strict=True):
            assert place % 256 == 0 and size % 256 == 0
            elements = int(np.prod(shape))
            numpy = {0x404: np.float32, 0x101: np.int8, 0x4101: np.int8}[kind]
            array = np.frombuffer(blob, numpy, elements, place)
            if kind == 0x4101:
                [self.multipliers[name]] = struct.unpack_from("<f", blob, place + elements)
                shape = shape if "Wemb" in name else shape[::-1]
            found[name] = array.reshape(shape)
            place += size
        assert place == len(blob)
        return found

    def integers(self, name):
        """Return the integers of a weight, and their divisor."""
        self.asked.add(name)
        return self.arrays[name].astype(np.float64), self.multipliers[name]

    def param(self, name, *shape):
        """Return a tensor that is not a matrix of a product: biases, normalisation, and embedding tables."""
        if name not in self.multipliers:
            return super().param(name, *shape)
        integers, multiplier = self.integers(name)
        assert integers.shape == shape
        return integers / multiplier

    def product(self, x, weight, inputs, outputs):
        integers, multiplier = self.integers(weight)
        assert integers.shape == (outputs, inputs)
        scale = super().param(f"{weight}_QuantMultA", 1, 1).item()
        return np.clip(np.rint(x * scale), -127, 127) @ integers.T / (scale * multiplier)

    def output(self, x, table, pieces, width):
        integers, multiplier = self.integers(table)
        assert integers.shape == (pieces, width) and np.abs(integers).max() == 127
        scaled, divisor = self.integers(f"{table}_QuantMultA")  # stored like a table
        scale = scaled.item() / divisor
        if table == "Wemb":
            np.testing.assert_allclose(super().param("none_QuantMultA", 1, 1), scale, rtol=1e-6)
        return np.clip(np.rint(x * scale), -127, 127) @ integers.T / (scale * multiplier)


def check_formulas(theirs, network, epsilon=1e-6, rtol=1e-4, atol=1e-4):
    """Check that Marian's formulas read every tensor, and give the scores of our network with Marian's epsilon."""
    for module in network.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = epsilon
    for source, target in zip(texts(4), texts(8)[4:], strict=True):
        mask = torch.ones(1, len(source), dtype=torch.bool)
        with torch.inference_mode():
            memory = network.encode(torch.tensor([source]), mask)
            hidden = network.decode(torch.tensor([[START, *target]]), memory, mask)
            expected = network.logits(hidden)[0].numpy()
        found, bound = theirs.scores(source, target), atol * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=bound)
    assert theirs.asked == {*theirs.arrays, "special:model.yml"}
