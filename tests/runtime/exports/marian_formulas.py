"""Marian's transformer in numpy, float64, written from Marian's sources, with its names.

Sources: models/transformer.h (layers, masks, positions), rnn/cells.h (SSRU), data and options of the file itself.
"""

import numpy as np
import yaml


class MarianFormulas:
    """A .npz run as by Marian: greedy search of one sentence, or the scores of a given translation."""

    def __init__(self, path):
        with np.load(path, allow_pickle=False) as archive:
            self.arrays = dict(archive)
        text = self.arrays.pop("special:model.yml")
        assert text.dtype == np.int8 and text[-1] == 0
        self.options = yaml.safe_load(text[:-1].tobytes())
        self.heads = self.options["transformer-heads"]
        self.asked = {"special:model.yml"}

    def param(self, name, *shape):
        """Return graph->param: the tensor, which must have the shape given by the options."""
        array = self.arrays[name]
        assert array.shape == shape and array.dtype == np.float32, name
        self.asked.add(name)
        return array.astype(np.float64)

    def scores(self, source, target):
        """Return logits (t, V) of the pieces after the empty beginning and each of `target`."""
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
        return x @ self.param(self.table("decoder"), self.size, self.width).T + bias

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
        """Return the name of a side's embeddings, by encoder.h, decoder.h and the output layer of transformer.h."""
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
        return x @ self.param(weight, inputs, outputs) + self.param(bias, 1, outputs)

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
        candidate = x @ self.param(f"{name}_W", d, d)
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
