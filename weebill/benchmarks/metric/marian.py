"""COMET models in the format of pymarian-eval: an .npz with Marian's names of tensors, and a SentencePiece model.

Marian numbers pieces like SentencePiece, so the rows of XLM-R's padding and mask pieces are left out, and the rows of
<s> and </s> take the places of <unk> and </s>.  Positions begin at XLM-R's third row.
"""

from pathlib import Path

import numpy as np
import yaml
from torch import Tensor

from weebill.errors import InputError
from weebill.metric.architecture import REGRESSION
from weebill.metric.folder import Metric

ENCODER, ESTIMATOR = "CometEncoder->encoder", "CometQEPooler"
LINEAR = "as<marian::nn::Linear>()"
BLOCK = "as<marian::nn::TransformerEncoderLayer>()"
# Options of Marian that describe XLM-R: post-norm layers, learnt positions, no types.
XLM_R = {
    "type": "comet",
    "tied-embeddings-all": True,
    "tied-embeddings-src": False,
    "transformer-ffn-depth": 2,
    "transformer-ffn-activation": "gelu",
    "transformer-train-position-embeddings": True,
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "nd",
    "bert-train-type-embeddings": False,
    "bert-type-vocab-size": 0,
    "comet-prepend-zero": True,
    "comet-final-sigmoid": False,
}
# Program of the opponent: scores (source, translation, reference) in tab-separated lines.
PYMARIAN = """
from pymarian import Evaluator
model, vocabulary, lines = arguments
scorer = Evaluator.new(
    model_file=model, vocab_file=vocabulary, like="comet", cpu_threads=1, quiet="", workspace=2000
)
with open(lines, encoding="utf-8") as file:
    systems = json.load(file)
def work(count):
    found = [scorer.evaluate(one) for one in systems[:count]]
    return [[score[0] if isinstance(score, (list, tuple)) else score for score in one] for one in found]
"""


def write_marian(path: Path, metric: Metric) -> None:
    """Write the .npz of a regression model.  Raises InputError for a model that pymarian cannot compute."""
    network = metric.network
    architecture, config = network.architecture, network.encoder.config
    plain = architecture.kind == REGRESSION and architecture.layer == "mix"
    if not plain or config.model_type != "xlm-roberta" or len(architecture.hidden_sizes) != 2:
        raise InputError(f"{metric.name}: pymarian is compared by regression models on XLM-R alone")
    words, positions = (
        getattr(network.encoder.embeddings, f"{name}_embeddings").weight
        for name in ("word", "position")
    )
    words = words.detach().clone()
    words[1], words[3] = words[0], words[2]  # <s> and </s> become the first and the third row
    types = network.encoder.embeddings.token_type_embeddings.weight[0]
    found: dict[str, Tensor] = {
        "Wemb": words[1:-1],
        f"{ENCODER}->positionEmbedding->embeddings": positions[2:] + types,
        f"{ENCODER}->weights": network.mix.weights,
        f"{ENCODER}->gamma": network.mix.gamma,
    }
    _norm(found, f"{ENCODER}->preprocessor", network.encoder.embeddings.LayerNorm)
    for number, layer in enumerate(network.encoder.encoder.layer):
        place = f"{ENCODER}->layers->at({number})->{BLOCK}"
        attention, output = layer.attention.self, layer.attention.output
        maps = {"q": attention.query, "k": attention.key, "v": attention.value, "o": output.dense}
        for name, linear in maps.items():
            _linear(found, f"{place}->selfAttentionBlock->selfAttention->{name}Proj", linear)
        _norm(found, f"{place}->selfAttentionBlock->postprocessor", output.LayerNorm)
        for index, linear in ((0, layer.intermediate.dense), (3, layer.output.dense)):
            _linear(found, f"{place}->filterBlock->layers->at({index})->{LINEAR}", linear)
        _norm(found, f"{place}->filterBlock->postprocessor", layer.output.LayerNorm)
    for number, linear in enumerate(network.estimator.linears):
        _linear(found, f"{ESTIMATOR}->layers->at({3 * number})->{LINEAR}", linear)
    options = XLM_R | {
        "comet-pool": architecture.pool,
        "comet-mix": True,
        "comet-mix-norm": architecture.layer_norm,
        "comet-mix-transformation": architecture.layer_transformation,
        "comet-pooler-ffn": list(architecture.hidden_sizes),
        "transformer-dim-ffn": config.intermediate_size,
        "transformer-heads": config.num_attention_heads,
        "enc-depth": config.num_hidden_layers,
        "dim-emb": config.hidden_size,
        "dim-vocabs": [len(words) - 2],
        "max-length": len(positions) - 2,
        "version": "converted by Weebill",
    }
    arrays = {name: value.detach().numpy() for name, value in found.items()}
    text = yaml.safe_dump(options).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, dtype=np.int8)
    np.savez(path, **arrays)


def _linear(found: dict[str, Tensor], place: str, linear) -> None:
    found[f"{place}->weight"] = linear.weight.T.contiguous()
    found[f"{place}->bias"] = linear.bias


def _norm(found: dict[str, Tensor], place: str, norm) -> None:
    found[f"{place}->norm->weight"] = norm.weight
    found[f"{place}->norm->bias"] = norm.bias
